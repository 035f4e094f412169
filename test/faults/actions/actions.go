// Package actions has the actions of which a plan consists: the changes that users make, and the faults. Each file has
// one family of actions. To add an action, add an entry to the list in the file of its family.
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

// Action is a kind of step, and the function that carries it out.
type Action struct {
	plan.Action

	// Do carries out a step of this kind. It gives world.Later a function that undoes lasting effects when the faults end.
	// If the target of the step, for example a Pod, does not exist at the moment, Do does nothing. An error means that the
	// campaign itself failed: it ends the run, and is no violation.
	Do func(ctx context.Context, w *world.World, step plan.Step) error
}

// All returns every action, in the order of the documentation. The changes that users make are derived from the schema.
func All(s *schema.Schema) []Action {
	return slices.Concat(
		changes(s), kills(), requests(), watches(), clocks(), operatorVersions(), apiServers(), processes(), byOthers(),
	)
}

// ForLoad returns the actions for measurements of the operator's process. Those in often do not touch this process, and
// those in outages stop the control plane. No action concerns a whole Node, because a Node has a large part of all
// Pods, and after its loss nothing else would happen for minutes.
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

// Plans returns the parts of the actions from which plans are drawn.
func Plans(actions []Action) []plan.Action {
	plans := make([]plan.Action, len(actions))
	for i, action := range actions {
		plans[i] = action.Action
	}
	return plans
}

// Do carries out a step.
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

// do is a function that carries out a step.
type do = func(context.Context, *world.World, plan.Step) error

// given returns a function that decodes the arguments of a step, and calls do with them.
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
