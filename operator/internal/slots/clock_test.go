package slots

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

func TestAClockThatIsSetBack(t *testing.T) {
	check(t, map[string]situation{
		"a Pod without a role, by a clock that was ahead, waits from now on": {
			cache(holder("b0", 0), but(instructed("b1", instruction.None, 1), ahead)), []string{`b1: role "" shop-1`},
		},
		"a Pod without keys, by a clock that was ahead, waits from now on": {
			cache(holder("b0", 0), but(instructed("b1", instruction.Cold, 1), ahead)), []string{`b1: role "cold" shop-1`},
		},
		"a Pod that gave its slot away, by a clock that was ahead, drains from now on": {
			cache(holder("b0", 0), but(left("b1", 1), ahead)), []string{`b1: role "leave" shop-1`},
		},
		"a Pod without keys that clients use is not emptied again": {
			cache(holder("b0", 0), but(holder("b1", 1), func(p *Pod) {
				ahead(p)
				p.Instruction.Role = instruction.Cold
			})), nil,
		},
		"by clocks that differ a little, it does not": {
			cache(holder("b0", 0), but(instructed("b1", instruction.None, 1), func(p *Pod) {
				p.Instruction.Slot, p.Instruction.Since = "", noon.Add(settleTime)
			})), nil,
		},
	})
}

// TestRecordsOfAClockThatIsSetBack: times that were recorded before the clock was set back count from now on, and no
// agent repeats anything.
func TestRecordsOfAClockThatIsSetBack(t *testing.T) {
	future := noon.Add(time.Hour)
	tests := map[string]struct {
		pod  Pod
		want func(*instruction.Instruction)
	}{
		"a Pod that took its slot": {
			but(holder("b1", 1), func(p *Pod) { p.Instruction.Since, p.Instruction.Record.MovedAt = future, future }),
			func(i *instruction.Instruction) { i.Record.MovedAt = noon },
		},
		"a copy": {
			but(copying("b1", "uid-b0", 0, 0), func(p *Pod) { p.Instruction.Since, p.Instruction.Record.StateSince = future, future }),
			func(i *instruction.Instruction) { i.Record.StateSince = noon },
		},
		"a copy to the others": {
			but(holder("b1", 1), func(p *Pod) {
				p.Instruction.Role, p.Instruction.Since, p.Instruction.Record.Began = instruction.Send, future, future
			}),
			func(i *instruction.Instruction) { i.Record.Began = noon },
		},
		"a copy to the others that has not begun": {
			but(holder("b1", 1), func(p *Pod) { p.Instruction.Role, p.Instruction.Since = instruction.Send, future }),
			func(i *instruction.Instruction) { i.Since = noon },
		},
		"times of this clock": {
			but(holder("b1", 1), func(p *Pod) { p.Instruction.Record.MovedAt = noon.Add(settleTime) }),
			func(*instruction.Instruction) {},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &state{Input: Input{Now: noon}, next: map[*Pod]instruction.Instruction{}, holders: []*Pod{nil, &tc.pod}}
			want := tc.pod.Instruction
			tc.want(&want)
			if diff := cmp.Diff(want, s.following(&tc.pod)); diff != "" {
				t.Errorf("instruction (-want +got):\n%s", diff)
			}
		})
	}
}

func TestACopyEndsByAClockThatIsSetBack(t *testing.T) {
	check(t, map[string]situation{
		"a copy that took too long since then": {
			cache(holder("a0", 0), holder("b1", 1), but(copying("b2", "a0", 0, 0), func(p *Pod) {
				ahead(p)
				p.Instruction.Record.StateSince = noon.Add(-time.Hour)
			})), []string{`b2: role "cold" shop-0 HandoffTimedOut`},
		},
	})
}

// TestACopyToTheOthersThatHasNotBegunDoesNotEnd: if the copy ended, the keys of the Pod would be lost.
func TestACopyToTheOthersThatHasNotBegunDoesNotEnd(t *testing.T) {
	last := but(holder("b2", 2), func(p *Pod) {
		ahead(p)
		p.Instruction.Role = instruction.Send
		p.Instruction.Scale = instruction.Scale{Hash: "Ketama", Names: "shop-#", Before: 3, After: 2, Servers: "10.0.0.0 10.0.0.1"}
	})
	shrinks := func(in *Input) {
		in.Scaling, in.Listed, in.Deployed = &Scaling{Hash: "Ketama", Names: "shop-#", Overlap: time.Minute}, 3, 3
	}
	check(t, map[string]situation{
		"it counts from now on": {
			with(cache(holder("b0", 0), holder("b1", 1), last), shrinks), []string{`b2: role "send" shop-2`},
		},
	})
}
