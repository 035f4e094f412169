package campaign

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

const (
	// untilReady is the wait before each step, in which the Memcached becomes Ready.
	untilReady = 2 * time.Second

	// times is how often an action is carried out. The last time, a fault that ends by itself is ended at once.
	times = 3
)

// Each returns a plan for each action whose name matches, with nothing else in it. So an action that is broken, or
// leaves something behind, is found without the luck of a seed.
func Each(all []actions.Action, pattern string) ([]plan.Plan, error) {
	names, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(a actions.Action) bool { return !names.MatchString(a.Name) })
	if len(all) == 0 {
		return nil, fmt.Errorf("no action has a name that matches %q", pattern)
	}
	plans := make([]plan.Plan, len(all))
	for i := range all {
		seed := uint64(i)
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
		p := plan.Plan{Seed: seed, Caches: []string{"a"}, Restart: true}
		for range times {
			step, err := plan.Draw(r, actions.Plans(all[i:i+1]), p.Caches)
			if err != nil {
				return nil, err
			}
			step.After.Duration = untilReady
			p.Steps = append(p.Steps, step)
		}
		plans[i] = p
	}
	return plans, nil
}
