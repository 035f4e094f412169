package slots

import (
	"testing"

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
