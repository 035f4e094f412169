package controller

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
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// notice tells of a change. It is recorded after the status that goes with it was written.
type pendingEvent struct {
	eventType string
	reason    string
	action    string
	note      string

	// child is what the notice is about, if not the Memcached as a whole or several of its children. It goes along as the
	// related object: without it the API would merge the found of two children that are otherwise alike, and without
	// its version, where there is one, those of two drifts.
	object apply.Outcome
}

func (e pendingEvent) record(recorder events.EventRecorder, mc *cachev1.Memcached) {
	var related runtime.Object
	if e.object.Name != "" {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: mc.Namespace, Name: e.object.Name, ResourceVersion: e.object.Version,
		}}
		object.SetGroupVersionKind(observe.VersionOf(e.object.GroupKind))
		related = object
	}
	recorder.Eventf(mc, related, e.eventType, e.reason, e.action, "%s", status.Shorten(e.note, longestNote))
}

// eventsOf returns what a pass has to tell of: what it did to children, and a new reason of Ready.
func eventsOf(in status.Input, now cachev1.MemcachedStatus) []pendingEvent {
	var found []pendingEvent
	for _, made := range createdTogether(in) {
		found = append(found, created(made))
	}
	for _, outcome := range in.Report {
		switch outcome.Result {
		case apply.Adopted:
			found = append(found, adopted(outcome))
		case apply.Deleted:
			found = append(found, deleted(outcome))
		case apply.Updated:
			found = append(found, updated(in, outcome))
		case apply.Paused:
			found = append(found, paused(outcome))
		case apply.Created, apply.Unchanged, apply.NotOwned, apply.Conflicting, apply.Terminating, apply.Waiting,
			apply.Failed:
		}
	}
	found = append(found, transition(in.Memcached.Status, now)...)
	if in.Updating && updateFailed(now) && !updateFailed(in.Memcached.Status) {
		found = append(found, updatesStopped())
	}
	return found
}

// updated tells the three causes of an update apart: a changed size, another wish of the spec or of a new operator,
// or somebody who changed a field of ours.
func updated(in status.Input, o apply.Outcome) pendingEvent {
	scaled := o.GroupKind == observe.DeploymentKind.GroupKind() && slices.Contains(o.Fields, ".spec.replicas")
	switch {
	case len(o.Drift) > 0:
		return driftCorrected(o)
	case scaled:
		return rescaled(o, in.Plan.Size)
	}
	return broughtUpToSpec(o)
}

// createdTogether are the children that were created, in groups of which each is told in one event. That is one group
// for a new Memcached: an event for each of its four would be nearly as many requests as all others that it takes.
// Later, each is told of on its own, as the API would merge two events about different children of one Memcached.
func createdTogether(in status.Input) []apply.Report {
	var made []apply.Report
	for _, outcome := range in.Report {
		switch {
		case outcome.Result != apply.Created:
		case in.Memcached.Status.ObservedGeneration == 0 && len(made) == 1:
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
	var kinds []string
	for _, outcome := range made {
		kinds = append(kinds, outcome.Kind)
	}
	last := len(kinds) - 1
	note := fmt.Sprintf("%s and %s %q created", strings.Join(kinds[:last], ", "), kinds[last], made[0].Name)
	return normal(apply.Outcome{}, "Created", "Create", note)
}

func adopted(o apply.Outcome) pendingEvent {
	return normal(o, "Adopted", "Adopt", fmt.Sprintf("%s %q adopted: it had no owner", o.Kind, o.Name))
}

func deleted(o apply.Outcome) pendingEvent {
	return normal(o, "Deleted", "Delete", fmt.Sprintf("%s %q deleted: the spec no longer asks for it", o.Kind, o.Name))
}

func paused(o apply.Outcome) pendingEvent {
	return normal(o, "RolloutPaused", "Pause", fmt.Sprintf("%s %q paused during its rollout, because spec.suspend is true", o.Kind, o.Name))
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

// stopped is about a cache that is not Ready after an automatic update.
func updatesStopped() pendingEvent {
	const note = "The cache is not Ready after its update. No other cache with updatePolicy Automatic is updated until " +
		"this one is Ready, suspended or deleted, or its updatePolicy is OnSpecChange"
	return pendingEvent{eventType: corev1.EventTypeWarning, reason: "UpdatesStopped", action: "Update", note: note}
}

func normal(o apply.Outcome, reason, action, note string) pendingEvent {
	return pendingEvent{eventType: corev1.EventTypeNormal, reason: reason, action: action, note: note, object: o}
}

// transition tells of a reason of Ready that is new and final: all nodes ready, or something to be done by somebody.
func transition(before, now cachev1.MemcachedStatus) []pendingEvent {
	was := meta.FindStatusCondition(before.Conditions, cachev1.ConditionReady)
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
	if is == nil {
		return nil
	}
	if was != nil && was.Reason == is.Reason && (was.Message == is.Message || !slices.Contains(repeatedReasons, is.Reason)) {
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

// repeatedReasons are reasons of which another message is news. That of PodsNotReady changes with each node.
var repeatedReasons = []string{
	cachev1.ReasonAllPodsReady, cachev1.ReasonInvalidSpec, cachev1.ReasonSecretNotFound, cachev1.ReasonInvalidSecret,
	cachev1.ReasonOwnershipConflict, cachev1.ReasonFieldManagerConflict,
}

// longestNote is what the events API takes, in bytes.
const longestNote = 1024
