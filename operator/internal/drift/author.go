package drift

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Author is who wrote, how and when, as managed fields have it.
type Author struct {
	Manager     string
	Operation   metav1.ManagedFieldsOperationType
	Subresource string
	Time        time.Time
}

// String reads like: "kubectl-edit" (Update, 2026-08-30T12:00:00Z).
func (a Author) String() string {
	how := string(a.Operation)
	if a.Subresource != "" {
		how += " of " + a.Subresource
	}
	when := "no time recorded" // As with writes of the scale subresource: Kubernetes loses theirs.
	if !a.Time.IsZero() {
		when = a.Time.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%q (%s, %s)", a.Manager, how, when)
}

// isOperator tells what this operator writes, or another one of its kind.
func (a Author) isOperator() bool {
	return a.Manager == names.FieldOwner && a.Operation == metav1.ManagedFieldsOperationApply && a.Subresource == ""
}

// Applied tells whether this operator, or another one of its kind, made an object what it is: the hash that each apply
// leaves there is our field manager's. Who writes another one takes it from us.
func Applied(object metav1.Object) bool {
	return Owns(object, fieldpath.MakePathOrDie("metadata", "annotations", names.AnnotationAppliedHash))
}

// Owns tells whether a field of an object is as our field manager applied it. The object has to have managed fields.
func Owns(object metav1.Object, path fieldpath.Path) bool {
	return slices.ContainsFunc(read(object.GetManagedFields()), func(e entry) bool {
		return e.isOperator() && e.fields.Has(path)
	})
}

// entry is an author, and the fields that are his.
type entry struct {
	Author
	fields *fieldpath.Set
}

// read leaves out what cannot be read: it is somebody else's business, and no reason to leave a field as it is.
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

// authorOf is the one who wrote a field last. We are it only where nobody else is.
func authorOf(entries []entry, path fieldpath.Path) *Author {
	var last *Author
	for _, e := range entries {
		if e.fields.Has(path) && (last == nil || last.isOperator() || !e.isOperator() && e.Time.After(last.Time)) {
			last = &e.Author
		}
	}
	return last
}

// lastWriter is the one who wrote the object, its status aside, since we did; nil where it is none or several.
func lastWriter(entries []entry) *Author {
	var ours time.Time
	for _, e := range entries {
		if e.isOperator() {
			ours = e.Time
		}
	}
	var others []Author
	for _, e := range entries {
		if !e.isOperator() && e.Subresource == "" && !e.Time.Before(ours) {
			others = append(others, e.Author)
		}
	}
	if len(others) != 1 {
		return nil
	}
	return &others[0]
}
