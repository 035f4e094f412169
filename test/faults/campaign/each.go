package campaign

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/reporting"
	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

const (
	// untilReady is the wait before each step, in which the Memcached becomes Ready.
	untilReady = 2 * time.Second

	// untilScaled is the wait after a step, until the Memcached is scaled. Scaling makes the operator write something.
	untilScaled = 300 * time.Millisecond

	// times is how often an action is carried out. The faults end right after the last time, so a fault that would end by
	// itself is ended early.
	times = 3
)

// before has, for each action that has an effect only after another action, this other action.
var before = map[string]string{
	"resume":                           "suspend",
	"create the Memcached again":       "delete the Memcached",
	"set updatePolicy to OnSpecChange": "set updatePolicy to Automatic",
}

// Each returns a plan for each action whose name matches. The plan has few other steps. So the plan shows reliably
// whether its action is broken, leaves something behind, or never has an effect.
func Each(all []actions.Action, pattern string) ([]plan.Plan, error) {
	chosen, err := matching(all, pattern, func(a actions.Action) string { return a.Name })
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no action has a name that matches %q", pattern)
	}
	plans := make([]plan.Plan, len(chosen))
	for i, action := range chosen {
		if plans[i], err = alone(uint64(i), action.Action, actions.Plans(all)); err != nil { //nolint:gosec // not negative
			return nil, err
		}
	}
	return plans, nil
}

// matching returns the items whose name matches a pattern.
func matching[T any](all []T, pattern string, nameOf func(T) string) ([]T, error) {
	names, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !names.MatchString(nameOf(one)) }), nil
}

// alone returns a plan that carries out one action several times, each time with the action that it needs before it,
// and a scale after it.
func alone(seed uint64, action plan.Action, all []plan.Action) (plan.Plan, error) {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
	p := plan.Plan{Seed: seed, Caches: []string{"a"}, Restart: true}
	if actions.NeedsSlots(action.Name) {
		p.Slots = "DNS"
	}
	if p.Uses = map[string]reporting.Use{"a": {Hour: 96, Observed: 86400}}; actions.NeedsUse(action.Name) {
		p.Acts = p.Caches
	}
	for n := range times {
		var try []plan.Step
		for _, name := range []string{before[action.Name], action.Name} {
			i := slices.IndexFunc(all, func(a plan.Action) bool { return a.Name == name })
			if i < 0 {
				continue
			}
			step, err := plan.Draw(r, all[i:i+1], p.Caches)
			if err != nil {
				return p, err
			}
			step.After.Duration = untilScaled
			try = append(try, step)
		}
		scale := actions.ScaleTo(int32(1 + 2*(n%2))) //nolint:gosec // 1 or 3
		scale.After.Duration = untilScaled
		try[0].After.Duration = untilReady
		p.Steps = append(p.Steps, append(try, scale)...)
	}
	return p, nil
}
