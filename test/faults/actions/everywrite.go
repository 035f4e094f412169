package actions

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// Change is a change to a Memcached; the operator is killed at each write that follows from it.
type Change struct {
	Name string

	before []plan.Step // prepare it
	step   plan.Step   // is the change; done again, it changes nothing
}

// Deletion is the name of a change that need not have a write: the operator writes only if it learns that an object was
// deleted before it learns that the Memcached was.
const Deletion = "deletion"

// Changes are the changes that a Memcached goes through.
func Changes() []Change {
	deletion := stepWith("delete the Memcached", removal{Objects: metav1.DeletePropagationBackground})
	creation := stepWith("create the Memcached again", nil)
	// Pods without slots get them only by an update.
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

// KilledAt returns steps that kill the operator at the n-th write of the change, which is 1 at first, at one of
// Moments.
func (c Change) KilledAt(write int, when string) []plan.Step {
	last := c.step
	last.AtRest = true // The faults do not end before.
	steps := append([]plan.Step{}, c.before...)
	steps = append(steps, stepWith(KillAtWrite, outageAtWrite{moment: moment{Write: write, When: when}}), c.step, last)
	for i := range len(c.before) + 1 {
		steps[i].AtRest = true
	}
	return steps
}

// stepWith is a step on the first Memcached.
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
