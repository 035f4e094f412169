package apply

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Verdict is what became of a child.
type Verdict string

const (
	// Unchanged says that it was as it should be, and no request was made.
	Unchanged Verdict = "unchanged"

	// Created says that it was not there.
	Created Verdict = "created"

	// Updated says that it was ours, and different from what it should be.
	Updated Verdict = "updated"

	// Adopted says that it was nobody's, and was taken over because the Memcached says so.
	Adopted Verdict = "adopted"

	// Deleted says that it was ours, and is not wanted any more.
	Deleted Verdict = "deleted"

	// Refused says that it was there and is not ours, and was left as it is.
	Refused Verdict = "refused"
)

// Outcome is what became of one child.
type Outcome struct {
	schema.GroupKind
	Name    string
	Verdict Verdict

	// Fields are the paths that were changed, where the child was updated.
	Fields []string

	// Refusal says why the child was refused, and the remedy.
	Refusal string

	// Generation is the child's generation after it was written; what is known of an older one is out of date.
	Generation int64
}

// Report is what became of the children, in the order in which they were applied.
type Report []Outcome

// Refusals says why children were refused, if any were.
func (r Report) Refusals() []string {
	var refusals []string
	for _, outcome := range r {
		if outcome.Verdict == Refused {
			refusals = append(refusals, outcome.Refusal)
		}
	}
	return refusals
}

// Generation returns the generation to which a child of the kind was written, or 0 where it was not.
func (r Report) Generation(kind schema.GroupKind) int64 {
	for _, outcome := range r {
		if outcome.GroupKind == kind {
			return outcome.Generation
		}
	}
	return 0
}
