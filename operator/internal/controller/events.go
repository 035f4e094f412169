package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// Reasons of events. An event tells of a change, and is written after the status that goes with it.
const (
	eventCreated = "Created"
	eventUpdated = "Updated"
	eventReady   = "Ready"

	actionApply  = "Apply"
	actionStatus = "Status"
)

func (r *Reconciler) recordEvents(pass status.Input, now cachev1.MemcachedStatus) {
	for _, outcome := range pass.Report {
		r.recordOutcome(pass.Memcached, outcome)
	}
	r.recordTransition(pass.Memcached, now)
}

func (r *Reconciler) recordOutcome(mc *cachev1.Memcached, outcome apply.Outcome) {
	switch outcome.Verdict {
	case apply.Created:
		r.events.Eventf(mc, nil, corev1.EventTypeNormal, eventCreated, actionApply,
			"%s %q created", outcome.Kind, outcome.Name)
	case apply.Updated:
		r.events.Eventf(mc, nil, corev1.EventTypeNormal, eventUpdated, actionApply,
			"%s %q updated: %s", outcome.Kind, outcome.Name, strings.Join(outcome.Fields, ", "))
	case apply.Unchanged, apply.Refused:
	}
}

// recordTransition tells when the reason of Ready becomes a good one, or one that needs somebody to act.
func (r *Reconciler) recordTransition(mc *cachev1.Memcached, now cachev1.MemcachedStatus) {
	was := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady)
	is := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
	if was != nil && was.Reason == is.Reason && was.Message == is.Message {
		return
	}
	switch is.Reason {
	case cachev1.ReasonAllNodesReady, cachev1.ReasonScaledToZero:
		r.events.Eventf(mc, nil, corev1.EventTypeNormal, eventReady, actionStatus, "%s", is.Message)
	case cachev1.ReasonInvalidSpec, cachev1.ReasonOwnershipConflict, cachev1.ReasonApplyFailed:
		r.events.Eventf(mc, nil, corev1.EventTypeWarning, is.Reason, actionStatus, "%s", is.Message)
	}
}
