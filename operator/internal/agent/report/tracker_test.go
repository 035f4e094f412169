package report

import (
	"testing"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

func TestHowMuchIsCopied(t *testing.T) {
	tests := map[string]struct {
		progress handoff.Progress
		want     float64
	}{
		"nothing is known yet":                   {handoff.Progress{}, 0},
		"a part":                                 {handoff.Progress{Bytes: 81, TotalBytes: 100}, 0.81},
		"all, without the overhead of memcached": {handoff.Progress{Bytes: 81, TotalBytes: 100, Copied: true}, 1},
		"more, because items were copied again":  {handoff.Progress{Bytes: 120, TotalBytes: 100}, 1},
		"all, and changes follow":                {handoff.Progress{Bytes: 81, TotalBytes: 100, Followed: true}, 1},
		"all of nothing":                         {handoff.Progress{Copied: true}, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ratio(tc.progress); got != tc.want {
				t.Errorf("ratio %v, want %v", got, tc.want)
			}
		})
	}
}
