package change

// Further information about a change.

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// waits says what a blocked plan waits for.
var waits = map[plan.Blocker]string{
	plan.SecretUnusable: "The Pod template waits for a Secret with which new Pods can start",
	plan.SlotMoves:      "The Pod template waits until the Pod that has just given its slot away is deleted",
	plan.KeysMove:       "The Pod template and the size wait until spec.bootstrap is removed",
	plan.UpdateQueued:   "The update to the operator's defaults waits for the updates of other caches",
}

// notes returns more information about a change.
func notes(in Input, outcome plan.Outcome, c Change) []string {
	var found []string
	if blocked, ok := outcome.(plan.Blocked); ok {
		found = append(found, waits[blocked.By])
	}
	if planned, ok := plan.Of(outcome); ok && len(planned.Pending) > 0 {
		found = append(found, "Until Pods are replaced, this stays pending: "+strings.Join(planned.Pending, "; "))
	}
	switch {
	case c.Keys == KeysAreMoved:
		found = append(found, "Slots are added and removed one at a time: only the first step is shown here")
	case in.Before != nil && in.After.Spec.Slots != nil && plan.SizeOf(in.Before) > plan.SizeWith(in.After, in.Current):
		found = append(found, fmt.Sprintf("The size changes from %d to %d in two steps, of which this is the first one. In "+
			"the second step, when clients no longer see the last slots, the Pods of these slots are deleted",
			plan.SizeOf(in.Before), plan.SizeWith(in.After, in.Current)))
	}
	if note := memoryNote(in); note != "" && c.Pods == PodsStay {
		found = append(found, note)
	}
	if note := hashNote(in.Before, in.After); note != "" {
		found = append(found, note)
	}
	if in.After.Spec.Suspend {
		found = append(found, "spec.suspend is true: the operator applies nothing of this change until spec.suspend is false")
	}
	pending := meta.FindStatusCondition(in.After.Status.Conditions, cachev1.ConditionUpdatePending)
	updates := c.Pods == PodsAreReplaced || in.After.Spec.UpdatePolicy == cachev1.UpdateAutomatic
	if pending != nil && pending.Status == metav1.ConditionTrue && updates {
		found = append(found, "The pending update is applied, too: "+pending.Message)
	}
	if request := requested(in.Before, in.After); request != "" {
		found = append(found, fmt.Sprintf("The annotation %s %q applies the operator's defaults, which may replace the Pods",
			cachev1.AnnotationUpdateRequested, request))
	}
	return found
}

// hashNote says what a change to the client hash means. Such a change alone moves no key.
func hashNote(before, after *cachev1.Memcached) string {
	if before == nil || before.Spec.Slots == nil || after.Spec.Slots == nil {
		return ""
	}
	switch former, next := before.Spec.Slots.ClientHash, after.Spec.Slots.ClientHash; {
	case former == next:
		return ""
	case next == "":
		return fmt.Sprintf("spec.slots.clientHash %s is removed. After this, a change to the size loses the keys that "+
			"clients will look for in another slot", former)
	case former == "":
		return fmt.Sprintf("spec.slots.clientHash is set to %s, which moves no key now. "+
			"After this, a change to the size moves keys by this hash: "+
			"it has to be the hash by which clients choose a slot", next)
	default:
		return fmt.Sprintf("spec.slots.clientHash changes from %[1]s to %[2]s, which moves no key. "+
			"Clients that then begin to choose slots by %[2]s look for most keys in another slot, and miss them", former, next)
	}
}

// requested returns the value of the annotation that requests an update, if it is new.
func requested(before, after *cachev1.Memcached) string {
	request := after.Annotations[cachev1.AnnotationUpdateRequested]
	if before == nil || request == before.Annotations[cachev1.AnnotationUpdateRequested] {
		return ""
	}
	return request
}
