package status

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// setUpdatePending states which pending changes would replace the Pods, and how to apply them. It covers only the
// Memcached's own Deployment. Without a pending update the condition is False and not absent, because kubectl wait
// never ends for an absent condition.
func setUpdatePending(status *cachev1.MemcachedStatus, in Input) {
	pending := metav1.Condition{
		Type: cachev1.ConditionUpdatePending, Status: metav1.ConditionFalse, Reason: cachev1.ReasonNoUpdatePending,
		Message:            "No update is pending",
		ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(in.Now),
	}
	deployment, planned := in.Report.Of(observe.DeploymentKind.GroupKind())
	before := meta.FindStatusCondition(status.Conditions, pending.Type)
	switch {
	case in.deployment() == nil:
	case planned && !deployment.IsMade() && before != nil:
		pending = *before // The plan was not applied: the condition stays as it is.
		pending.ObservedGeneration = status.ObservedGeneration
	case len(in.Plan.Pending) > 0:
		reason, until := awaited(in)
		pending.Status, pending.Reason = metav1.ConditionTrue, reason
		pending.Message = Shorten(strings.Join(in.Plan.Pending, "; ")+". "+until, longestMessage)
	case in.Updating && !meta.IsStatusConditionTrue(status.Conditions, cachev1.ConditionReady):
		pending.Reason = cachev1.ReasonUpdateInProgress
		pending.Message = "The update is applied; the Pods are being replaced"
	}
	meta.SetStatusCondition(&status.Conditions, pending)
}

// awaited states what a pending update waits for.
func awaited(in Input) (reason, message string) {
	reason = cachev1.ReasonUpdateQueued
	if in.Memcached.Spec.UpdatePolicy != cachev1.UpdateAutomatic || in.Plan.OnlyMemory {
		reason = cachev1.ReasonDefaultsDiffer
	}
	switch {
	case in.Blocked == plan.SlotMoves:
		message = "The update waits until the Pod that has just given its slot away is deleted"
	case in.Blocked == plan.KeysMove:
		message = "The update waits until spec.bootstrap is removed"
	case in.Blocked == plan.SecretUnusable:
		message = "The update waits until the Secret named in the condition " + cachev1.ConditionReady + " is valid"
	case in.Plan.OnlyMemory:
		message = fmt.Sprintf("The change would replace the Pods, which empties them. "+
			"It is applied with the next change to the spec that replaces the Pods anyway, "+
			"or if you set a new value of the annotation %s, or spec.rollout.memoryChange %s",
			cachev1.AnnotationUpdateRequested, cachev1.MemoryReplace)
	case reason == cachev1.ReasonDefaultsDiffer:
		message = fmt.Sprintf("The update would replace the Pods. "+
			"It is applied with the next change to the spec that replaces the Pods anyway, "+
			"or if you set a new value of the annotation %s, or spec.updatePolicy %s",
			cachev1.AnnotationUpdateRequested, cachev1.UpdateAutomatic)
	case in.Plan.Suspended:
		message = "The update waits until spec.suspend is false"
	default:
		message = fmt.Sprintf("The update is queued: the operator updates at most --max-concurrent-updates "+
			"caches at a time, those that are Ready first, ordered by namespace and name. "+
			"A new value of the annotation %s applies it immediately", cachev1.AnnotationUpdateRequested)
	}
	return reason, message
}
