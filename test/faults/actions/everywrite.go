package actions

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// Change is a change to a Memcached. The operator is killed at each write that it makes because of this change.
type Change struct {
	Name string

	before []plan.Step // the steps that prepare the change
	step   plan.Step   // the change itself; if it is repeated, it changes nothing
}

// Deletion is the name of the one change after which the operator need not write. It writes only if it learns that an
// object was deleted before it learns that the Memcached was deleted.
const Deletion = "deletion"

// Changes returns the changes to a Memcached at whose writes the operator is killed.
func Changes() []Change {
	deletion := stepWith("delete the Memcached", removal{Objects: metav1.DeletePropagationBackground})
	creation := stepWith("create the Memcached again", nil)
	// With this policy, existing Pods without slots get slots.
	updates := change(map[string]any{"updatePolicy": "Automatic"})
	keysMove := change(map[string]any{"slots": map[string]any{"clientHash": "Ketama"}})
	from := map[string]any{"servers": []string{"old-0.example.com:11211", "old-1.example.com:11211"}}
	movesIn := change(map[string]any{
		"slots": map[string]any{"clientHash": "Ketama"}, "bootstrap": map[string]any{"from": from, "mode": "CutOver"},
	})
	small, large := change(resized("64Mi")), change(resized("128Mi"))
	return []Change{
		{"creation", []plan.Step{deletion}, creation},
		{"creation from other servers", []plan.Step{movesIn, deletion}, creation},
		{"rollout by a change of the spec", nil, change(map[string]any{"threads": 2})},
		{"scale to 1 Pod", nil, ScaleTo(1)}, // this deletes the PodDisruptionBudget
		{"scale to more Pods", []plan.Step{ScaleTo(1)}, ScaleTo(mostPods)},
		{"scale to more slots, whose keys move", []plan.Step{updates, keysMove, ScaleTo(1)}, ScaleTo(mostPods)},
		{"scale to fewer slots, whose keys move", []plan.Step{updates, keysMove, ScaleTo(mostPods)}, ScaleTo(1)},
		{"more memory for running Pods", []plan.Step{updates, small}, large},
		{"less memory for running Pods", []plan.Step{updates, small, large}, small},
		{Deletion, nil, deletion},
	}
}

// change returns a step that changes fields of the first Memcached.
func change(spec map[string]any) plan.Step {
	return stepWith("change several fields", changed{Spec: spec})
}

// ScaleTo returns a step that scales the first Memcached.
func ScaleTo(pods int32) plan.Step { return stepWith("scale", size{pods}) }

// KilledAt returns steps that kill the operator at a write of the change, in one of Moments. The first write has the
// number 1.
func (c Change) KilledAt(write int, when string) []plan.Step {
	last := c.step
	last.AtRest = true // so that the faults end only when the operator is at rest
	steps := append([]plan.Step{}, c.before...)
	steps = append(steps, stepWith(KillAtWrite, outageAtWrite{moment: moment{Write: write, When: when}}), c.step, last)
	for i := range len(c.before) + 1 {
		steps[i].AtRest = true
	}
	return steps
}

// stepWith returns a step on the first Memcached, with these arguments.
func stepWith(action string, arguments any) plan.Step {
	step := plan.Step{Do: action, Cache: "a"}
	if arguments == nil {
		return step
	}
	with, err := json.Marshal(arguments)
	if err != nil {
		panic(fmt.Sprintf("arguments are always marshalled: %v", err))
	}
	step.With = with
	return step
}
