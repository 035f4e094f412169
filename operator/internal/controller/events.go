package controller

// Events, which are recorded after the status is written.

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// pendingEvent is an event that is recorded after the matching status was written.
type pendingEvent struct {
	eventType string
	reason    string
	action    string
	note      string

	// object is the managed object that the event is about, unless it is about the Memcached or several objects. It
	// becomes the related object: otherwise the API would merge equal events of two objects, and, without the resource
	// version, those of two drifts.
	object apply.Outcome

	// pod is the name of the related Pod, for the same reason.
	pod string
}

func (e pendingEvent) record(recorder events.EventRecorder, mc *cachev1.Memcached) {
	var related runtime.Object
	switch {
	case e.pod != "":
		related = &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: mc.Namespace, Name: e.pod}
	case e.object.Name != "":
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: mc.Namespace, Name: e.object.Name, ResourceVersion: e.object.Version,
		}}
		object.SetGroupVersionKind(observe.VersionOf(e.object.GroupKind))
		related = object
	}
	recorder.Eventf(mc, related, e.eventType, e.reason, e.action, "%s", status.Shorten(e.note, longestNote))
}

// eventsOf returns the events of a reconciliation: changes of managed objects, and a new reason of Ready.
func eventsOf(c *reconciliation) []pendingEvent {
	var found []pendingEvent
	before, now := c.memcached.Status, c.status
	for _, made := range createdTogether(c) {
		found = append(found, created(made))
	}
	for _, outcome := range c.report {
		switch outcome.Result {
		case apply.Adopted:
			found = append(found, adopted(outcome))
		case apply.Deleted:
			found = append(found, deleted(outcome))
		case apply.Updated:
			found = append(found, updated(c, outcome))
		case apply.Paused:
			found = append(found, paused(outcome))
		case apply.Created, apply.Unchanged, apply.NotOwned, apply.Conflicting, apply.Terminating, apply.Waiting,
			apply.Failed:
		}
	}
	if kept := status.Kept(before, now, c.slots().Slots); len(kept) > 0 {
		found = append(found, handedOver(kept))
	}
	for _, slot := range status.StartedCold(before, now) {
		found = append(found, startedCold(slot))
	}
	found = append(found, transition(before, now)...)
	if c.updating && updateFailed(now) && !updateFailed(before) {
		found = append(found, updatesStopped())
	}
	return found
}

// updated distinguishes the three causes of an update: a changed size, a changed desired state, or drift.
func updated(c *reconciliation, o apply.Outcome) pendingEvent {
	scaled := o.GroupKind == observe.DeploymentKind.GroupKind() && slices.Contains(o.Fields, ".spec.replicas")
	switch {
	case len(o.Drift) > 0:
		return driftCorrected(o)
	case scaled:
		return rescaled(o, c.input.Plan.Size)
	}
	return broughtUpToSpec(o)
}

// createdTogether groups the created objects by event. Those of a new Memcached share one event: one for each would
// nearly double the requests. Later each object has its own, as the API would merge two events about different
// objects of one Memcached.
func createdTogether(c *reconciliation) []apply.Report {
	var made []apply.Report
	for _, outcome := range c.report {
		switch {
		case outcome.Result != apply.Created:
		case c.memcached.Status.ObservedGeneration == 0 && len(made) == 1:
			made[0] = append(made[0], outcome)
		default:
			made = append(made, apply.Report{outcome})
		}
	}
	return made
}

func created(made apply.Report) pendingEvent {
	if len(made) == 1 {
		return normal(made[0], "Created", "Create", fmt.Sprintf("%s %q created", made[0].Kind, made[0].Name))
	}
	var objects []string
	for i, outcome := range made {
		object := outcome.Kind
		if i+1 == len(made) || made[i+1].Name != outcome.Name { // Once for all kinds with the same name.
			object += fmt.Sprintf(" %q", outcome.Name)
		}
		objects = append(objects, object)
	}
	last := len(objects) - 1
	note := fmt.Sprintf("%s and %s created", strings.Join(objects[:last], ", "), objects[last])
	return normal(apply.Outcome{}, "Created", "Create", note)
}

func adopted(o apply.Outcome) pendingEvent {
	return normal(o, "Adopted", "Adopt", fmt.Sprintf("%s %q adopted: it had no owner", o.Kind, o.Name))
}

func deleted(o apply.Outcome) pendingEvent {
	return normal(o, "Deleted", "Delete", fmt.Sprintf("%s %q deleted: the spec no longer asks for it", o.Kind, o.Name))
}

func paused(o apply.Outcome) pendingEvent {
	return normal(o, "RolloutPaused", "Pause",
		fmt.Sprintf("%s %q paused during its rollout, because spec.suspend is true", o.Kind, o.Name))
}

func rescaled(o apply.Outcome, size int32) pendingEvent {
	return normal(o, "Scaled", "Scale", fmt.Sprintf("Scaled to %d Pods", size))
}

func broughtUpToSpec(o apply.Outcome) pendingEvent {
	fields := strings.Join(o.Fields, ", ")
	if fields == "" {
		fields = "a field that is no longer set, or only an annotation of the operator"
	}
	return normal(o, "Updated", "Update", fmt.Sprintf("%s %q updated: %s", o.Kind, o.Name, fields))
}

func driftCorrected(o apply.Outcome) pendingEvent {
	corrected := normal(o, "DriftCorrected", "Correct", fmt.Sprintf("%s %q: drift reverted: %s. Fix: %s",
		o.Kind, o.Name, drift.Describe(o.Drift), drift.Fixes(o.Kind, o.Drift)))
	corrected.eventType = corev1.EventTypeWarning
	return corrected
}

// handedOver is the event of slots that moved with their keys: one for all of a status, as a large cache has many.
func handedOver(kept []slots.Status) pendingEvent {
	var moved []string
	for _, slot := range kept {
		moved = append(moved, fmt.Sprintf("slot %s to Pod %s in %s", slot.Name, slot.Pod, slot.Took))
	}
	note := "Handed over: " + strings.Join(moved, ", ")
	return pendingEvent{
		eventType: corev1.EventTypeNormal, reason: "SlotHandedOver", action: "Handoff", note: note, pod: kept[0].Pod,
	}
}

// startedCold is the event of a slot whose keys were lost.
func startedCold(slot cachev1.SlotStatus) pendingEvent {
	note := fmt.Sprintf("Slot %s: Pod %s started empty (%s)", slot.Name, slot.Pod, slot.Reason)
	return pendingEvent{
		eventType: corev1.EventTypeWarning, reason: "SlotStartedCold", action: "Handoff", note: note, pod: slot.Pod,
	}
}

// updatesStopped is the event of a cache that is not Ready after an automatic update.
func updatesStopped() pendingEvent {
	const note = "The cache is not Ready after its update. No other cache with updatePolicy Automatic is updated until " +
		"this one is Ready, suspended or deleted, or its updatePolicy is OnSpecChange"
	return pendingEvent{eventType: corev1.EventTypeWarning, reason: "UpdatesStopped", action: "Update", note: note}
}

func normal(o apply.Outcome, reason, action, note string) pendingEvent {
	return pendingEvent{eventType: corev1.EventTypeNormal, reason: reason, action: action, note: note, object: o}
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
	case cachev1.ReasonRollingOut:
		return nil
	}
	return []pendingEvent{{eventType: corev1.EventTypeWarning, reason: is.Reason, action: "Observe", note: is.Message}}
}

// repeatedReasons are the reasons for which a new message is an event. The message of PodsNotReady changes with each
// Pod.
var repeatedReasons = []string{
	cachev1.ReasonAllPodsReady, cachev1.ReasonInvalidSpec, cachev1.ReasonSecretNotFound, cachev1.ReasonInvalidSecret,
	cachev1.ReasonOwnershipConflict, cachev1.ReasonFieldManagerConflict,
}

// longestNote is the limit of the events API, in bytes.
const longestNote = 1024
