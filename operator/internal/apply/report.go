package apply

// The result for each object, with its error and when to retry.

import (
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
)

// Result is what happened to a managed object.
type Result string

const (
	// Unchanged means that the object was as desired, and no request was made.
	Unchanged Result = "unchanged"

	// Created means that the object did not exist.
	Created Result = "created"

	// Updated means that the object was owned, and differed from the desired state.
	Updated Result = "updated"

	// Adopted means that the object had no owner, and allowed the adoption or was applied by the operator before.
	Adopted Result = "adopted"

	// Deleted means that the object was owned, and is no longer desired.
	Deleted Result = "deleted"

	// NotOwned means that the object exists and is not owned; it was left unchanged.
	NotOwned Result = "notOwned"

	// Conflicting means that another client keeps overwriting the operator's fields, and that the operator pauses its
	// writes.
	Conflicting Result = "conflicting"

	// Terminating means that the object is being deleted, or belongs to a deleted Memcached of this name, and cannot be
	// created before the deletion ends. It also means that the namespace is being deleted, so the object cannot be created
	// at all.
	Terminating Result = "terminating"

	// Waiting means that the object is created, or replaces Pods, only after another object was applied.
	Waiting Result = "waiting"

	// Paused means that the object's rollout was paused.
	Paused Result = "paused"

	// Failed means that the API server rejected the object; Err has the reason.
	Failed Result = "failed"
)

// Outcome is what happened to one managed object.
type Outcome struct {
	schema.GroupKind
	Name   string
	Result Result

	// Fields are the paths that an update changed, without the operator's own annotations.
	Fields []string

	// Attached are the paths of fields that other clients had attached to fields which an update removed: the update
	// removed them, too.
	Attached []string

	// Drift describes the changes by another client, if the object was updated, is conflicting or failed because of them.
	// Version is the resource version of the object with the drift.
	Drift   []drift.Drift
	Version string

	// Why explains a result NotOwned, Terminating or Waiting, with the fix.
	Why string

	// Err is why the object failed.
	Err error

	// RetryAfter is after what time to try again, if no event will trigger that.
	RetryAfter time.Duration

	// Generation is the object's generation after the write. Observations of an older generation are outdated.
	Generation int64
}

// Report lists the outcomes, in the order in which the objects were applied.
type Report []Outcome

// Why returns the explanations of the objects with this result.
func (r Report) Why(result Result) []string {
	var explanations []string
	for _, outcome := range r {
		if outcome.Result == result {
			explanations = append(explanations, outcome.Why)
		}
	}
	return explanations
}

// IsOwned reports whether the object of a kind proved to be owned. An object that had lost its owner reference counts
// as owned once the operator has taken it back.
func (r Report) IsOwned(kind schema.GroupKind) bool {
	outcome, _ := r.Of(kind)
	return slices.Contains([]Result{Unchanged, Updated, Adopted, Conflicting}, outcome.Result)
}

// Has reports whether an object has the result.
func (r Report) Has(result Result) bool {
	return slices.ContainsFunc(r, func(outcome Outcome) bool { return outcome.Result == result })
}

// Of returns the outcome of the object of a kind, if the object is desired. It is for kinds of which a Memcached has at
// most one object.
func (r Report) Of(kind schema.GroupKind) (Outcome, bool) {
	for _, outcome := range r {
		if outcome.GroupKind == kind {
			return outcome, true
		}
	}
	return Outcome{}, false
}

// isMade reports whether the object of a kind is as desired.
func (r Report) isMade(kind schema.GroupKind) bool {
	outcome, _ := r.Of(kind)
	return outcome.IsMade()
}

// IsMade reports whether the object is as desired.
func (o Outcome) IsMade() bool {
	return slices.Contains([]Result{Unchanged, Created, Updated, Adopted}, o.Result)
}

// Err joins the errors of the objects that failed.
func (r Report) Err() error {
	var errs []error
	for _, outcome := range r {
		errs = append(errs, outcome.Err)
	}
	return errors.Join(errs...)
}

// SpecRefused reports whether every failure is about the values of fields: then the spec requests something that only
// the API server knows to be invalid.
func (r Report) SpecRefused() bool {
	failed, refused := 0, 0
	for _, outcome := range r {
		if outcome.Err == nil {
			continue
		}
		failed++
		if len(refusedFields(outcome.Err)) > 0 {
			refused++
		}
	}
	return failed > 0 && failed == refused
}

// RetryAfter returns after what time to try again at the earliest, or 0.
func (r Report) RetryAfter() time.Duration {
	var soonest time.Duration
	for _, outcome := range r {
		if outcome.RetryAfter > 0 && (soonest == 0 || outcome.RetryAfter < soonest) {
			soonest = outcome.RetryAfter
		}
	}
	return soonest
}

// Generation returns the generation to which the object of a kind was written, or 0.
func (r Report) Generation(kind schema.GroupKind) int64 {
	outcome, _ := r.Of(kind)
	return outcome.Generation
}
