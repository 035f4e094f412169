// Package actions are what a plan is made of: the changes of users, and the faults. Each file has one family of them.
// A new action is an entry of a list in its family's file.
package actions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// Action is a kind of step, and what it does.
type Action struct {
	plan.Action

	// Do does it. What it leaves behind is undone by what it gives to world.Later. A step whose target does not exist at
	// the moment, for example a Pod, does nothing. An error ends the run, and is no violation: it is for faults of the
	// campaign itself.
	Do func(ctx context.Context, w *world.World, step plan.Step) error
}

// All returns every action, in the order of the documentation. The changes of users follow from the schema.
func All(s *schema.Schema) []Action {
	return slices.Concat(
		changes(s), kills(), requests(), watches(), clocks(), operatorVersions(), apiServers(), processes(), byOthers(),
	)
}

// ForLoad returns, for measurements of the operator's process, the actions that leave it alone, and apart from them
// those that stop the control plane. A Node has a good part of all Pods, so that nothing else would happen for minutes
// after its loss: no action concerns a whole Node.
func ForLoad(all []Action) (often, outages []Action) {
	outages = apiServers()
	others := slices.Concat(kills(), operatorVersions(), nodes(), uses(), outages)
	often = slices.DeleteFunc(slices.Clone(all), func(a Action) bool {
		return slices.ContainsFunc(others, func(other Action) bool { return other.Name == a.Name })
	})
	return often, outages
}

// On returns the actions for one kind of Nodes.
func On(nodes plan.Nodes, all []Action) []Action {
	return slices.DeleteFunc(slices.Clone(all), func(a Action) bool { return a.Only != "" && a.Only != nodes })
}

// Plans returns what a plan is drawn from.
func Plans(actions []Action) []plan.Action {
	plans := make([]plan.Action, len(actions))
	for i, action := range actions {
		plans[i] = action.Action
	}
	return plans
}

// Do does a step.
func Do(ctx context.Context, w *world.World, actions []Action, step plan.Step) error {
	i := slices.IndexFunc(actions, func(a Action) bool { return a.Name == step.Do })
	if i < 0 {
		return fmt.Errorf("no action %q: the plan is from another commit", step.Do)
	}
	if err := actions[i].Do(w.WithEffect(ctx, step.Do), w, step); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

// do is what an action does.
type do = func(context.Context, *world.World, plan.Step) error

// given is an action that gets its arguments.
func given[A any](do func(context.Context, *world.World, plan.Step, A) error) do {
	return func(ctx context.Context, w *world.World, step plan.Step) error {
		var with A
		if len(step.With) > 0 {
			if err := json.Unmarshal(step.With, &with); err != nil {
				return err
			}
		}
		return do(ctx, w, step, with)
	}
}
