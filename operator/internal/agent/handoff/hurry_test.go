package handoff

import (
	"testing"
	"time"
)

// TestTheTimeSufficesByTheSpeed: once a speed was measured, this speed decides whether the time counts as enough, and
// not the rate that the settings allow.
func TestTheTimeSufficesByTheSpeed(t *testing.T) {
	tests := map[string]struct {
		rate, left, perSecond int64 // MiB; a perSecond of 0 means that nothing was copied yet
		limit                 time.Duration
		within, want          bool
	}{
		"no end":                                    {16, 1 << 20, 1, 0, false, false},
		"time is left":                              {16, 1000, 10, time.Hour, false, false},
		"as fast as it may, and too slow":           {16, 1000, 16, time.Minute, false, true},
		"the network is slower than the limit":      {16, 1000, 1, 600 * time.Second, false, true},
		"no limit, and a slow network":              {0, 1000, 1, 600 * time.Second, false, true},
		"no limit, and nothing is measured":         {0, 1000, 0, time.Second, false, false},
		"too much for the limit":                    {1, 1000, 0, time.Minute, false, true},
		"too much for a limit that may be exceeded": {1, 1000, 0, time.Minute, true, false},
		"nothing is left":                           {1, 0, 0, time.Second, false, false},
	}
	for name, tc := range tests {
		h := &Handoff{Settings: Settings{Rate: tc.rate << 20}}
		h.left.Store(tc.left << 20)
		now := time.Now()
		switch {
		case tc.within:
			h.Hurry(tc.limit)
		case tc.limit > 0:
			h.endsWithin(tc.limit)
		}
		if tc.perSecond > 0 {
			h.speed.begin(now.Add(-time.Second))
			h.speed.add(tc.perSecond<<20, now)
		}
		if got := h.hurries(now); got != tc.want {
			t.Errorf("%s: hurries is %t", name, got)
		}
	}
}

func TestTheSpeedIsThatOfTheLastSeconds(t *testing.T) {
	const minute = 60
	var s speed
	now := time.Now()
	s.begin(now)
	if _, isKnown := s.at(now.Add(100*time.Millisecond), minute); isKnown {
		t.Error("it is known after a tenth of a second")
	}
	for _, perSecond := range []int64{1000, 10} {
		for range minute {
			now = now.Add(time.Second)
			s.add(perSecond, now)
		}
		if got, isKnown := s.at(now, minute); !isKnown || got < 0.9*float64(perSecond) || got > 2*float64(perSecond) {
			t.Errorf("%.0f bytes a second, %t, want %d", got, isKnown, perSecond)
		}
	}
	if got, _ := s.at(now.Add(time.Hour), minute); got > 1 {
		t.Errorf("%.0f bytes a second while nothing was copied", got)
	}
}
