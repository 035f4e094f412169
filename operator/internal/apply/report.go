package apply

import (
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
)

// Result is what became of a child.
type Result string

const (
	// Unchanged says that it was as it should be, and no request was made.
	Unchanged Result = "unchanged"

	// Created says that it was not there.
	Created Result = "created"

	// Updated says that it was ours, and different from what it should be.
	Updated Result = "updated"

	// Adopted says that it had no owner, and was taken over, as it allows that or is the operator's own work.
	Adopted Result = "adopted"

	// Deleted says that it was ours, and is not wanted any more.
	Deleted Result = "deleted"

	// NotOwned says that it was there and is not ours, and was left as it is.
	NotOwned Result = "notOwned"

	// Conflicting says that somebody changes again and again what we set, and that it is left to them for a while.
	Conflicting Result = "conflicting"

	// Terminating says that it is being deleted, or belongs to a Memcached of this name that was deleted, and can be made
	// anew only when it is gone; or that its namespace is being deleted, and it can't be made at all.
	Terminating Result = "terminating"

	// Waiting says that it is created, or gets other Pods, only after another child was made.
	Waiting Result = "waiting"

	// Paused says that its rollout was stopped where it is.
	Paused Result = "paused"

	// Failed says that the API server did not take it; Err says why.
	Failed Result = "failed"
)

// Outcome is what became of one child.
type Outcome struct {
	schema.GroupKind
	Name   string
	Result Result

	// Fields are the paths that were changed, where the child was updated, the operator's own notes aside.
	Fields []string

	// Drift is what somebody changed of what we had set, where that is why the child was updated, is contested or failed.
	// Version is that of the child as it was found then.
	Drift   []drift.Drift
	Version string

	// Why explains a child that was refused, is leaving or is waiting, and names the remedy.
	Why string

	// Err is why a child failed.
	Err error

	// RetryAfter is when it is worth trying again, where no event will tell.
	RetryAfter time.Duration

	// Generation is the child's generation after it was written; what is known of an older one is out of date.
	Generation int64
}

// Report is what became of the children, in the order in which they were applied.
type Report []Outcome

// Why returns the explanations of the children with a result.
func (r Report) Why(result Result) []string {
	var explanations []string
	for _, outcome := range r {
		if outcome.Result == result {
			explanations = append(explanations, outcome.Why)
		}
	}
	return explanations
}

// IsOwned tells whether a child of the kind proved to be ours. One that had lost its owner reference when it was read
// did so by being taken back.
func (r Report) IsOwned(kind schema.GroupKind) bool {
	outcome, _ := r.Of(kind)
	return slices.Contains([]Result{Unchanged, Updated, Adopted, Conflicting}, outcome.Result)
}

// Has tells whether there is a child with a result.
func (r Report) Has(result Result) bool {
	return slices.ContainsFunc(r, func(outcome Outcome) bool { return outcome.Result == result })
}

// Of returns the outcome of the child of a kind, if there is to be one.
func (r Report) Of(kind schema.GroupKind) (Outcome, bool) {
	for _, outcome := range r {
		if outcome.GroupKind == kind {
			return outcome, true
		}
	}
	return Outcome{}, false
}

// IsMade tells whether a child is as it is to be.
func (o Outcome) IsMade() bool {
	return slices.Contains([]Result{Unchanged, Created, Updated, Adopted}, o.Result)
}

// Err joins the errors of the children that failed.
func (r Report) Err() error {
	var errs []error
	for _, outcome := range r {
		errs = append(errs, outcome.Err)
	}
	return errors.Join(errs...)
}

// SpecRefused tells whether all that failed did so because of the values of fields: the spec asks for something that
// only the API server knows to be impossible.
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

// RetryAfter returns the soonest time at which it is worth trying again, or 0.
func (r Report) RetryAfter() time.Duration {
	var soonest time.Duration
	for _, outcome := range r {
		if outcome.RetryAfter > 0 && (soonest == 0 || outcome.RetryAfter < soonest) {
			soonest = outcome.RetryAfter
		}
	}
	return soonest
}

// Generation returns the generation to which a child of the kind was written, or 0 where it was not.
func (r Report) Generation(kind schema.GroupKind) int64 {
	outcome, _ := r.Of(kind)
	return outcome.Generation
}
