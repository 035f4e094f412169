package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	at := func(milliseconds int) time.Time { return time.UnixMilli(int64(milliseconds)) }
	// Three writes, the second of which is a deletion, were answered after 1000, 2000 and 3000 ms.
	k := &truth{}
	for i, deleted := range []bool{false, true, false} {
		k.settle(k.begin(), deleted, at(1000*(i+1)))
	}
	tests := map[string]struct {
		version, began int
		bound          time.Duration
		want           verdict
	}{
		"the value was current":                    {version: 1, began: 1999, want: verdict{}},
		"the write is not answered yet":            {version: 3, began: 2500, want: verdict{}},
		"it was deleted before":                    {version: 1, began: 2001, want: verdict{resurrected: true, age: time.Millisecond}},
		"it was deleted within the bound":          {version: 1, began: 2100, bound: 100 * time.Millisecond, want: verdict{age: 100 * time.Millisecond}},
		"it was deleted longer ago than the bound": {version: 1, began: 2101, bound: 100 * time.Millisecond, want: verdict{resurrected: true, age: 101 * time.Millisecond}},
		"it was overwritten, after a deletion":     {version: 1, began: 4000, want: verdict{stale: true, age: 2 * time.Second}},
		"no version was ever written by this name": {version: 0, began: 1500, want: verdict{stale: true, age: 500 * time.Millisecond}},
		"nothing was answered before the read":     {version: 1, began: 500, want: verdict{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := k.judge(tc.version, at(tc.began), tc.bound)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(verdict{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
