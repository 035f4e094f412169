package controller

// Events of what is new in the status: slots that another Pod got, the state of the cache, and its suspension.

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// handedOver returns the event of a slot that moved with its keys.
func handedOver(slot status.HandedOver) pendingEvent {
	note := fmt.Sprintf("Slot %s handed over from Pod %s to Pod %s in %s", slot.Name, slot.From, slot.To,
		slot.Took.Round(time.Second))
	return pendingEvent{
		eventType: corev1.EventTypeNormal, reason: eventSlotHandedOver, action: "Handoff", note: note, pod: slot.To,
	}
}

// startedCold returns the event of a slot whose keys were lost.
func startedCold(slot cachev1.SlotStatus) pendingEvent {
	note := fmt.Sprintf("Slot %s: Pod %s started empty (%s)", slot.Name, slot.Pod, slot.Reason)
	return pendingEvent{
		eventType: corev1.EventTypeWarning, reason: eventSlotStartedCold, action: "Handoff", note: note, pod: slot.Pod,
	}
}

// slotsRemoved returns the event of slots whose keys were lost because the size was lowered.
func slotsRemoved(removed, before int) pendingEvent {
	note := fmt.Sprintf("%d of %d slots removed: their keys are lost, about %d %% of the keys of the cache. "+
		"If spec.slots.clientHash is set, the operator first copies the keys of slots that it removes",
		removed, before, 100*removed/before)
	return pendingEvent{eventType: corev1.EventTypeWarning, reason: eventSlotsRemoved, action: "Scale", note: note}
}

// chosen returns the event about the memory, or about the number of Pods, that the operator chose. It never chooses
// both at the same time.
func chosen(before, now cachev1.MemcachedStatus, decided plan.Autoscaling) []pendingEvent {
	step := pendingEvent{eventType: corev1.EventTypeNormal, reason: eventMemoryChosen, action: "Autoscale"}
	if step.note = status.MemoryStep(before, now, whyOf(decided.Memory)); step.note != "" {
		return []pendingEvent{step}
	}
	step.reason = eventSizeChosen
	if step.note = status.SizeStep(before, now, whyOf(decided.Size)); step.note != "" {
		return []pendingEvent{step}
	}
	return nil
}

func whyOf(decided *autoscale.State) string {
	if decided == nil {
		return ""
	}
	return decided.Why
}

// unusual returns an event for each deviation from the usual day that began, or one event when all deviations have
// ended.
func unusual(before, now cachev1.MemcachedStatus) []pendingEvent {
	began, all := status.NewDeviations(before, now)
	var found []pendingEvent
	for _, deviation := range began {
		found = append(found, pendingEvent{
			eventType: corev1.EventTypeWarning, reason: deviation.Reason, action: "Observe", note: deviation.Message,
		})
	}
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionAsUsual)
	if all && is != nil && is.Status == metav1.ConditionTrue {
		found = append(found, pendingEvent{
			eventType: corev1.EventTypeNormal, reason: eventAsUsual, action: "Observe", note: is.Message,
		})
	}
	return found
}

// suspension returns the event that a suspension began or ended. If a suspended Memcached has no Pods, the reason of
// its condition Ready has an event instead.
func suspension(before, now cachev1.MemcachedStatus) []pendingEvent {
	was := meta.IsStatusConditionTrue(before.Conditions, cachev1.ConditionSuspended)
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionSuspended)
	ready := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
	switch {
	case was && is == nil:
		const note = "The operator applies the spec again, because spec.suspend is false"
		return []pendingEvent{{eventType: corev1.EventTypeNormal, reason: eventResumed, action: "Resume", note: note}}
	case !was && is != nil && (ready == nil || ready.Reason != cachev1.ReasonSuspended):
		return []pendingEvent{{
			eventType: corev1.EventTypeNormal, reason: eventSuspended, action: "Suspend", note: is.Message,
		}}
	}
	return nil
}

// bootstrapped returns the event of a new reason of the condition Bootstrapped, except for reasons which only say that
// keys are still to be copied.
func bootstrapped(before, now cachev1.MemcachedStatus) []pendingEvent {
	was := meta.FindStatusCondition(before.Conditions, cachev1.ConditionBootstrapped)
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionBootstrapped)
	if is == nil || was != nil && was.Reason == is.Reason {
		return nil
	}
	event := pendingEvent{eventType: corev1.EventTypeNormal, reason: is.Reason, action: "Bootstrap", note: is.Message}
	switch is.Reason {
	case cachev1.ReasonBootstrapFollowing, cachev1.ReasonBootstrapCutOver:
		return []pendingEvent{event}
	case cachev1.ReasonBootstrapFailed:
		event.eventType = corev1.EventTypeWarning
		return []pendingEvent{event}
	}
	return nil
}

// updatesStopped returns the event of a cache that is not Ready after an automatic update.
func updatesStopped() pendingEvent {
	const note = "The cache is not Ready after its update. No other cache with updatePolicy Automatic is updated until " +
		"this one is Ready, suspended or deleted, or its updatePolicy is OnSpecChange"
	return pendingEvent{eventType: corev1.EventTypeWarning, reason: eventUpdatesStopped, action: "Update", note: note}
}

// transition returns an event for a new reason of Ready that is final: all Pods are ready, or the user must act.
func transition(before, now cachev1.MemcachedStatus) []pendingEvent {
	was := meta.FindStatusCondition(before.Conditions, cachev1.ConditionReady)
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
	if is == nil {
		return nil
	}
	repeats := slices.Contains(repeatedReasons, is.Reason)
	if was != nil && was.Reason == is.Reason && (was.Message == is.Message || !repeats) {
		return nil
	}
	switch is.Reason {
	case cachev1.ReasonAllPodsReady, cachev1.ReasonScaledToZero:
		return []pendingEvent{{eventType: corev1.EventTypeNormal, reason: is.Reason, action: "Observe", note: is.Message}}
	case cachev1.ReasonRollingOut, cachev1.ReasonHandingOver, cachev1.ReasonResizing:
		return nil
	}
	return []pendingEvent{{eventType: corev1.EventTypeWarning, reason: is.Reason, action: "Observe", note: is.Message}}
}

// repeatedReasons are the reasons that get another event when only the message changes. PodsNotReady is not one of
// them, because its message changes with each Pod.
var repeatedReasons = []string{
	cachev1.ReasonAllPodsReady, cachev1.ReasonInvalidSpec, cachev1.ReasonSecretNotFound, cachev1.ReasonInvalidSecret,
	cachev1.ReasonOwnershipConflict, cachev1.ReasonFieldManagerConflict,
}
