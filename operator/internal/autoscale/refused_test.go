package autoscale

import (
	"testing"
	"time"
)

func TestAStepThatAPodDoesNotGetIsTakenBack(t *testing.T) {
	tests := map[string]struct {
		ago            time.Duration
		former, min    int64
		memory, record int64
	}{
		"a Pod has two minutes":                     {2*time.Minute - time.Second, gib / 2, mebibyte, gib, 0},
		"then all get what they had":                {2 * time.Minute, gib / 2, mebibyte, gib / 2, gib},
		"also much later":                           {2 * day, gib / 2, mebibyte, gib / 2, gib},
		"a minimum that gave it to them holds":      {time.Hour, gib / 2, gib, gib, 0},
		"a minimum that was put back does not":      {time.Hour, gib / 2, gib / 4, gib / 2, gib},
		"a step that took memory away is no reason": {time.Hour, 0, mebibyte, gib, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := acting()
			in.Refused, in.State.Former, in.State.Changed, in.Policy.Min = true, tc.former, now.Add(-tc.ago), tc.min
			if got := Decide(in); got.Memory != tc.memory || got.Refused != tc.record {
				t.Errorf("%s, and refused is %s", bytes(got.Memory), bytes(got.Refused))
			}
		})
	}
}

// TestWhatWasRefusedIsRemembered checks that a refused memory is remembered, even after steps that do not lead to it.
func TestWhatWasRefusedIsRemembered(t *testing.T) {
	in := acting().withReport("a", gib/5*6, evicting(time.Minute))
	in.State.Refused, in.State.Changed = 2*gib, now.Add(-time.Hour/2)
	if got := Decide(in); got.Memory <= gib || got.Memory >= 2*gib || got.Refused != 2*gib || got.Former != gib {
		t.Errorf("%+v", got)
	}
	in.Policy.Max = gib / 2
	if got := Decide(in); got.Memory != gib/2 || got.Former != 0 {
		t.Errorf("with a smaller maximum: %+v", got)
	}
}
