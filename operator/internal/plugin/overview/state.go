// Package overview converts the parts of caches that a user may read into the values that a screen shows. It is pure.
package overview

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// State is the state of a cache as a whole, in a word.
type State string

// States, the worst first.
const (
	// Stalled: nothing will change without a user's action.
	Stalled State = "Stalled"

	// Unknown: the operator has written no status.
	Unknown State = "Unknown"

	// Reconciling: the operator or the cluster works towards the spec.
	Reconciling State = "Reconciling"

	// Ready: all Pods are up to date and ready.
	Ready State = "Ready"
)

// Summary is the state of a cache, and why it is so.
type Summary struct {
	State     State      `json:"state"`
	Reason    string     `json:"reason,omitempty"`
	Message   string     `json:"message"`
	Since     *time.Time `json:"since,omitempty"`
	Suspended bool       `json:"suspended,omitempty"`

	Size  int32 `json:"size"`
	Ready int32 `json:"ready"`
}

// noStatus is the message about a cache that the operator has not seen. outdated is the message about a cache of which
// the operator has seen only an older generation.
const (
	noStatus = "The operator has written no status: check that it runs and serves this namespace"
	outdated = "The operator has not seen generation %d of the spec yet, but %d: check that it runs"
)

// SummaryOf judges a cache by its conditions alone.
func SummaryOf(mc *cachev1.Memcached) Summary {
	s := Summary{State: Unknown, Message: noStatus, Suspended: mc.Spec.Suspend, Ready: mc.Status.ReadyReplicas}
	s.Size = plan.SizeOf(mc)
	conditions := mc.Status.Conditions
	ready := meta.FindStatusCondition(conditions, cachev1.ConditionReady)
	if ready == nil {
		return s
	}
	s.Reason, s.Message, s.Since = ready.Reason, ready.Message, timeOf(&ready.LastTransitionTime)
	switch {
	case meta.IsStatusConditionTrue(conditions, cachev1.ConditionStalled):
		s.State = Stalled
	case mc.Status.ObservedGeneration < mc.Generation && !mc.Spec.Suspend:
		s.State, s.Reason = Reconciling, ""
		s.Message = fmt.Sprintf(outdated, mc.Generation, mc.Status.ObservedGeneration)
	case ready.Status == metav1.ConditionTrue:
		s.State = Ready
	default:
		s.State = Reconciling
	}
	return s
}

// Waiting is a condition because of which something waits, or needs an action, although all Pods may be ready.
type Waiting struct {
	Condition string `json:"condition"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

// extras are the conditions that do not reflect the health of the Pods, in the order in which they are shown.
var extras = []string{
	cachev1.ConditionRestartRequired, cachev1.ConditionCertificateIncomplete, cachev1.ConditionUpdatePending,
	cachev1.ConditionBootstrapped, cachev1.ConditionAsUsual,
}

// WaitsOf returns the conditions because of which something waits in a cache.
func WaitsOf(mc *cachev1.Memcached) []Waiting {
	var found []Waiting
	for _, name := range extras {
		condition := meta.FindStatusCondition(mc.Status.Conditions, name)
		switch {
		case condition == nil, condition.Reason == cachev1.ReasonBootstrapRestored: // The bootstrap is done.
		case name == cachev1.ConditionAsUsual:
			if condition.Status == metav1.ConditionFalse || condition.Reason == cachev1.ReasonNotReported {
				found = append(found, Waiting{Condition: name, Reason: condition.Reason, Message: condition.Message})
			}
		case condition.Status == metav1.ConditionTrue, name == cachev1.ConditionBootstrapped,
			condition.Reason == cachev1.ReasonUpdateInProgress:
			found = append(found, Waiting{Condition: name, Reason: condition.Reason, Message: condition.Message})
		}
	}
	return found
}

// timeOf returns a time, or nil if the time is not set.
func timeOf(from *metav1.Time) *time.Time {
	if from.IsZero() {
		return nil
	}
	return new(from.UTC())
}
