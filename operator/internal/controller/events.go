package controller

// Events, which are recorded after the status is written, each with a line in the log, because the event is deleted
// after an hour.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// Reasons of events. Reasons of the condition Ready are reasons of events, too.
const (
	// eventCreated: objects were created. Those of a new Memcached share one event.
	eventCreated = "Created"

	// eventUpdated: the desired state of an object changed. The note names the changed fields, and the fields that other
	// clients had attached to removed fields.
	eventUpdated = "Updated"

	// eventScaled: the number of Pods of the Deployment changed.
	eventScaled = "Scaled"

	// eventAdopted: an object had no owner, and the Memcached owns it now.
	eventAdopted = "Adopted"

	// eventDeleted: an object was deleted, because the spec no longer requires it.
	eventDeleted = "Deleted"

	// eventDriftCorrected: another client had changed an object. The note says what was changed, by whom, how and when,
	// and has a fix. Each drift has a separate event.
	eventDriftCorrected = "DriftCorrected"

	// eventRolloutPaused: the operator paused a rollout of a suspended Memcached.
	eventRolloutPaused = "RolloutPaused"

	// eventRolloutResumed: the operator ended its pause of a rollout.
	eventRolloutResumed = "RolloutResumed"

	// eventSuspended: the operator writes only the status from now on.
	eventSuspended = "Suspended"

	// eventResumed: the operator applies the spec again.
	eventResumed = "Resumed"

	// eventSlotHandedOver: another Pod has the slot, with the keys of its predecessor. The number of keys is in the
	// agent's metrics and log.
	eventSlotHandedOver = "SlotHandedOver"

	// eventSlotStartedCold: a handoff failed, and the Pod has none of the keys of its predecessor. The note has the
	// reason.
	eventSlotStartedCold = "SlotStartedCold"

	// eventSlotsRemoved: the cache has fewer slots, and their keys are lost, because the operator does not know by what
	// hash clients choose a slot.
	eventSlotsRemoved = "SlotsRemoved"

	// eventMemoryChosen: the operator chose another amount of memory for the Pods, because of the use of the cache. The
	// note has the reason.
	eventMemoryChosen = "MemoryChosen"

	// eventSizeChosen: the operator chose another number of Pods, because of the use of the cache. The note has the
	// reason.
	eventSizeChosen = "SizeChosen"

	// eventAsUsual: the cache is used as on its usual day again. Each deviation has an event whose reason is that of the
	// deviation.
	eventAsUsual = "AsUsual"

	// eventUpdatesStopped: the cache is not Ready after an automatic update, so the operator updates no other cache.
	eventUpdatesStopped = "UpdatesStopped"
)

// pendingEvent is an event that is recorded after the matching status was written.
type pendingEvent struct {
	eventType string
	reason    string
	action    string
	note      string

	// object is the managed object that the event is about; it is zero if the event is about the Memcached or about
	// several objects. The event names it as its related object, because the API would otherwise merge equal events about
	// two objects. The event also has the object's resource version, so that events about two drifts of one object are not
	// merged.
	object apply.Outcome

	// pod is the name of the related Pod, for the same reason.
	pod string
}

// record records the event, and logs a line with the same text.
func (e pendingEvent) record(log logr.Logger, recorder events.EventRecorder, mc *cachev1.Memcached) {
	var related runtime.Object
	switch {
	case e.pod != "":
		log = log.WithValues("pod", e.pod)
		related = &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: mc.Namespace, Name: e.pod}
	case e.object.Name != "":
		log = log.WithValues("object", e.object.Kind+"/"+e.object.Name)
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: mc.Namespace, Name: e.object.Name, ResourceVersion: e.object.Version,
		}}
		object.SetGroupVersionKind(observe.VersionOf(e.object.GroupKind))
		related = object
	}
	log.Info(e.note, "event", e.reason, "generation", mc.Generation)
	recorder.Eventf(mc, related, e.eventType, e.reason, e.action, "%s", status.Shorten(e.note, status.LongestNote))
}

// eventsOf returns the events of a reconciliation whose status is written.
func eventsOf(c *reconciliation) []pendingEvent {
	return slices.Concat(eventsOfObjects(c), eventsOfStatus(c))
}

// eventsOfObjects returns the events of changed objects.
func eventsOfObjects(c *reconciliation) []pendingEvent {
	var found []pendingEvent
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
	if outcome, was := c.resumed(); was {
		found = append(found, resumedRollout(outcome))
	}
	return found
}

// resumed returns the Deployment if the operator has just ended its pause of the rollout.
func (c *reconciliation) resumed() (apply.Outcome, bool) {
	deployment := c.snapshot.Deployment()
	outcome, _ := c.report.Of(observe.DeploymentKind.GroupKind())
	same := outcome.Result == apply.Unchanged || outcome.Result == apply.Updated
	return outcome, same && deployment != nil && observe.IsPaused(deployment)
}

// eventsOfStatus returns the events about changes to the status: slots that moved, and a new state of the cache.
func eventsOfStatus(c *reconciliation) []pendingEvent {
	var found []pendingEvent
	before, now := c.memcached.Status, c.status
	for _, slot := range status.Kept(before, now, c.slots().Slots) {
		found = append(found, handedOver(slot))
	}
	for _, slot := range status.StartedCold(before, now) {
		found = append(found, startedCold(slot))
	}
	if removed := status.Removed(before, now); removed > 0 && !c.slots().KeepsKeys {
		found = append(found, slotsRemoved(removed, len(before.Slots)))
	}
	found = append(found, bootstrapped(before, now)...)
	found = append(found, chosen(before, now, c.autoscaling())...)
	found = append(found, unusual(before, now)...)
	found = append(found, suspension(before, now)...)
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

// createdTogether groups the created objects by event. The objects of a new Memcached share one event: an event for
// each object would nearly double the requests. Objects that are created later have an event each, because the API
// would merge two shared events about different objects of one Memcached.
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
		return normal(made[0], eventCreated, "Create", fmt.Sprintf("%s %q created", made[0].Kind, made[0].Name))
	}
	var objects []string
	for i, outcome := range made {
		object := outcome.Kind
		if i+1 == len(made) || made[i+1].Name != outcome.Name { // Objects with the same name share one mention of it.
			object += fmt.Sprintf(" %q", outcome.Name)
		}
		objects = append(objects, object)
	}
	last := len(objects) - 1
	note := fmt.Sprintf("%s and %s created", strings.Join(objects[:last], ", "), objects[last])
	return normal(apply.Outcome{}, eventCreated, "Create", note)
}

func adopted(o apply.Outcome) pendingEvent {
	return normal(o, eventAdopted, "Adopt", fmt.Sprintf("%s %q adopted: it had no owner", o.Kind, o.Name))
}

func deleted(o apply.Outcome) pendingEvent {
	return normal(o, eventDeleted, "Delete", fmt.Sprintf("%s %q deleted: the spec no longer requests it", o.Kind, o.Name))
}

func paused(o apply.Outcome) pendingEvent {
	return normal(o, eventRolloutPaused, "Pause",
		fmt.Sprintf("%s %q paused during its rollout, because spec.suspend is true", o.Kind, o.Name))
}

func resumedRollout(o apply.Outcome) pendingEvent {
	return normal(o, eventRolloutResumed, "Resume",
		fmt.Sprintf("%s %q resumed its rollout, because spec.suspend is false", o.Kind, o.Name))
}

func rescaled(o apply.Outcome, size int32) pendingEvent {
	return normal(o, eventScaled, "Scale", fmt.Sprintf("Scaled to %d Pods", size))
}

func broughtUpToSpec(o apply.Outcome) pendingEvent {
	fields := strings.Join(o.Fields, ", ")
	if fields == "" {
		fields = "a field that is no longer set, or only an annotation of the operator"
	}
	if len(o.Attached) > 0 {
		fields = fmt.Sprintf("%s; also removed, because another client had added it to a removed field: %s",
			fields, strings.Join(o.Attached, ", "))
	}
	return normal(o, eventUpdated, "Update", fmt.Sprintf("%s %q updated: %s", o.Kind, o.Name, fields))
}

func driftCorrected(o apply.Outcome) pendingEvent {
	corrected := normal(o, eventDriftCorrected, "Correct", fmt.Sprintf("%s %q: drift reverted: %s. Fix: %s",
		o.Kind, o.Name, drift.Describe(o.Drift), drift.Fixes(o.Kind, o.Drift)))
	corrected.eventType = corev1.EventTypeWarning
	return corrected
}

func normal(o apply.Outcome, reason, action, note string) pendingEvent {
	return pendingEvent{eventType: corev1.EventTypeNormal, reason: reason, action: action, note: note, object: o}
}
