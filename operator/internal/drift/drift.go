// Package drift tells who changed a field of ours, how and when, and from what to what. It is pure: it reads what the
// managed fields of an object tell, and claims no more than they do.
package drift

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Drift is a field of ours that somebody changed.
type Drift struct {
	// Field is its path, such as .spec.replicas.
	Field string

	// Was is what it was, and is to be. Is what somebody made of it, or "" where it was removed. Both are for people.
	Was, Is string

	// Author wrote the field last. A field that is not there is nobody's: then it is whoever wrote the object since we
	// did, where that was one alone. It is nil where nothing tells.
	Author *Author

	Kind ManagerKind
}

// Object is a live object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Explain tells of each field that differs between the live object and the wanted one, who did it.
func Explain(live Object, wanted any, changed *fieldpath.Set) ([]Drift, error) {
	there, here, err := contents(live, wanted)
	if err != nil {
		return nil, err
	}
	entries := read(live.GetManagedFields())
	var drifts []Drift
	for _, path := range topmost(there, withoutOwnAnnotations(changed)) {
		drift := explain(there, here, path, entries)
		drift.Kind = kindOf(drift, live)
		drifts = append(drifts, drift)
	}
	return drifts, nil
}

func explain(there, here map[string]any, path fieldpath.Path, entries []entry) Drift {
	was, _ := find(here, path)
	drift := Drift{Field: path.String(), Was: spell(path, was.value)}
	is, found := find(there, path)
	if !found {
		if is, found = stray(there, here, path); !found {
			drift.Author = lastWriter(entries)
			return drift
		}
	}
	drift.Is, drift.Author = spell(path, is.value), authorOf(entries, is.path)
	return drift
}

// contents are the live object and the wanted one as JSON has them.
func contents(live Object, wanted any) (there, here map[string]any, err error) {
	bare := live.DeepCopyObject().(Object)
	bare.SetManagedFields(nil) // They need not even be JSON.
	if there, err = runtime.DefaultUnstructuredConverter.ToUnstructured(bare); err != nil {
		return nil, nil, fmt.Errorf("read the live object: %w", err)
	}
	if here, err = runtime.DefaultUnstructuredConverter.ToUnstructured(wanted); err != nil {
		return nil, nil, fmt.Errorf("read the wanted object: %w", err)
	}
	return there, here, nil
}

// topmost shortens the paths of what is gone altogether to where it begins: a list item, and not each of its fields.
func topmost(there map[string]any, changed *fieldpath.Set) []fieldpath.Path {
	var paths []fieldpath.Path
	for path := range changed.All() {
		top := len(path)
		for i := range path {
			if _, found := find(there, path[:i+1]); !found {
				top = i + 1
				break
			}
		}
		if n := len(paths); n == 0 || !paths[n-1].Equals(path[:top]) {
			paths = append(paths, path[:top].Copy())
		}
	}
	return paths
}

// withoutOwnAnnotations leaves out the operator's own notes, which change with other fields, unless there is nothing else.
func withoutOwnAnnotations(changed *fieldpath.Set) *fieldpath.Set {
	others := fieldpath.NewSet()
	for path := range changed.All() {
		if !IsOwnAnnotation(path) {
			others.Insert(path.Copy())
		}
	}
	if others.Empty() {
		return changed
	}
	return others
}

var notes = []string{names.AnnotationAppliedHash, names.AnnotationTemplateInputs}

// IsOwnAnnotation tells the annotations in which the operator keeps what it has to know.
func IsOwnAnnotation(path fieldpath.Path) bool {
	last := path[len(path)-1].FieldName
	return last != nil && slices.Contains(notes, *last)
}
