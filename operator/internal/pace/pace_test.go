package pace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// writesAt simulates a client that reverts each write after the time undone, which may be 0. It returns at what times
// the operator writes.
func writesAt(limit Limit, undone, until time.Duration) []time.Duration {
	var at []time.Duration
	writes, begin := Writes{}, time.Unix(0, 0)
	for now := begin; now.Sub(begin) < until; {
		if wait := limit.Wait(writes, now); wait > 0 {
			now = now.Add(wait)
			continue
		}
		at = append(at, now.Sub(begin))
		writes = writes.After(now)
		now = now.Add(undone)
	}
	return at
}

func TestPausesBetweenWritesGrow(t *testing.T) {
	tests := map[string]struct {
		undone, until time.Duration
		want          []time.Duration
	}{
		"undone immediately": {
			undone: 0, until: 30 * time.Minute,
			want: []time.Duration{
				0, 0, 0, 15 * time.Second, time.Minute, 4 * time.Minute, 14 * time.Minute, 24 * time.Minute,
			},
		},
		"undone after a quarter of a minute, as an autoscaler does": {
			undone: 15 * time.Second, until: 10 * time.Minute,
			want: []time.Duration{0, 15 * time.Second, 30 * time.Second, 2 * time.Minute, 8 * time.Minute},
		},
		"undone after a time longer than any pause": {
			undone: 11 * time.Minute, until: time.Hour,
			want: []time.Duration{0, 11 * time.Minute, 22 * time.Minute, 33 * time.Minute, 44 * time.Minute, 55 * time.Minute},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, writesAt(3, tc.undone, tc.until)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnOldConflictIsForgotten(t *testing.T) {
	begin := time.Unix(0, 0)
	writes := Writes{}.After(begin).After(begin).After(begin)
	later := begin.Add(2 * Longest)
	if !writes.IsOver(later) || writes.IsOver(later.Add(-1)) {
		t.Error("it is not over just when twice the longest pause has passed")
	}
	again := writes.After(later)
	if wait := Limit(3).Wait(again.After(later), later); wait > 0 {
		t.Errorf("the second write of a new conflict leads to a pause of %s", wait)
	}
}
