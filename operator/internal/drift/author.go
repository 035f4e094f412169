package drift

// Reads from managed fields which client wrote a field.

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Author is the field manager that wrote a field, with the operation and the time, as recorded in managed fields.
type Author struct {
	Manager     string
	Operation   metav1.ManagedFieldsOperationType
	Subresource string
	Time        time.Time
}

// String returns, for example: "kubectl-edit" (Update, 2026-08-30T12:00:00Z).
func (a Author) String() string {
	how := string(a.Operation)
	if a.Subresource != "" {
		how += " of " + a.Subresource
	}
	when := "no time recorded" // Kubernetes records no time for writes of the scale subresource.
	if !a.Time.IsZero() {
		when = a.Time.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%q (%s, %s)", a.Manager, how, when)
}

// isOperator reports whether the author is this operator, or another instance of it.
func (a Author) isOperator() bool {
	return a.Manager == names.FieldOwner && a.Operation == metav1.ManagedFieldsOperationApply && a.Subresource == ""
}

// Applied reports whether this operator, or another instance, applied the object last: its field manager owns the hash
// that each apply writes. A client that overwrites the hash becomes its owner.
func Applied(object metav1.Object) bool {
	return Owns(object, fieldpath.MakePathOrDie("metadata", "annotations", names.AnnotationAppliedHash))
}

// Owns reports whether the operator owns a field. If so, the field has the value that the operator applied. The object
// must have managed fields.
func Owns(object metav1.Object, path fieldpath.Path) bool {
	return slices.ContainsFunc(read(object.GetManagedFields()), func(e entry) bool {
		return e.isOperator() && e.fields.Has(path)
	})
}

// entry is an author with the fields it owns.
type entry struct {
	Author
	fields *fieldpath.Set
}

// read returns the entries of managed fields. It skips entries that cannot be read, because these belong to other
// clients, and must not stop the correction of drift.
func read(managed []metav1.ManagedFieldsEntry) []entry {
	var entries []entry
	for _, m := range managed {
		fields := &fieldpath.Set{}
		if m.FieldsV1 == nil || fields.FromJSON(m.FieldsV1.GetRawReader()) != nil {
			continue
		}
		author := Author{Manager: m.Manager, Operation: m.Operation, Subresource: m.Subresource}
		if m.Time != nil {
			author.Time = m.Time.Time
		}
		entries = append(entries, entry{author, fields})
	}
	return entries
}

// authorOf returns the last writer of a field. It is the operator only if no other client owns the field.
func authorOf(entries []entry, path fieldpath.Path) *Author {
	var last *Author
	for _, e := range entries {
		if e.fields.Has(path) && (last == nil || last.isOperator() || !e.isOperator() && e.Time.After(last.Time)) {
			last = &e.Author
		}
	}
	return last
}

// lastWriter returns the only client that wrote the object since the operator last wrote it; nil if there is no such
// client or more than one. Writes of the status do not count.
func lastWriter(entries []entry) *Author {
	var own time.Time
	for _, e := range entries {
		if e.isOperator() {
			own = e.Time
		}
	}
	var others []Author
	for _, e := range entries {
		if !e.isOperator() && e.Subresource == "" && !e.Time.Before(own) {
			others = append(others, e.Author)
		}
	}
	if len(others) != 1 {
		return nil
	}
	return &others[0]
}
