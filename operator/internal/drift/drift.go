// Package drift finds which client changed a field that the operator owns, when, and from what to what. It is pure:
// it reads the managed fields of an object, and reports no more than they record.
package drift

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Drift is a field of the operator that another client changed.
type Drift struct {
	// Field is its path, such as .spec.replicas.
	Field string

	// Was is the value that the operator set and restores. Is is the value that was found, or "" if the field was
	// removed. Both are texts for messages.
	Was, Is string

	// Author wrote the field last. A removed field has no owner: Author is then the only client that wrote the object
	// since the operator did. It is nil if that is unknown.
	Author *Author

	Kind ManagerKind
}

// Object is a live object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Explain returns, for each field that differs between the live and the desired object, which client changed it.
func Explain(live Object, desired any, changed *fieldpath.Set) ([]Drift, error) {
	actual, expected, err := contents(live, desired)
	if err != nil {
		return nil, err
	}
	entries := read(live.GetManagedFields())
	var drifts []Drift
	for _, path := range topmost(actual, withoutOwnAnnotations(changed)) {
		drift := explain(actual, expected, path, entries)
		if _, isSecret := live.(*corev1.Secret); isSecret {
			drift = drift.withoutValues()
		}
		drift.Kind = kindOf(drift, live)
		drifts = append(drifts, drift)
	}
	return drifts, nil
}

// withoutValues hides the values, because another client may write the content of a Secret into any field.
func (d Drift) withoutValues() Drift {
	for _, value := range []*string{&d.Was, &d.Is} {
		if *value != "" {
			*value = notShown
		}
	}
	return d
}

// ByAdmission attributes each drift to admission: the API server accepted the operator's values and did not store them.
func ByAdmission(drifts []Drift) []Drift {
	attributed := slices.Clone(drifts)
	for i := range attributed {
		attributed[i].Author, attributed[i].Kind = nil, Admission
	}
	return attributed
}

func explain(actual, expected map[string]any, path fieldpath.Path, entries []entry) Drift {
	was, _ := find(expected, path)
	drift := Drift{Field: path.String(), Was: spell(path, was.value)}
	is, found := find(actual, path)
	if !found {
		if is, found = replacement(actual, expected, path); !found {
			drift.Author = lastWriter(entries)
			return drift
		}
	}
	drift.Is, drift.Author = spell(path, is.value), authorOf(entries, is.path)
	return drift
}

// contents returns the live and the desired object as JSON values.
func contents(live Object, desired any) (actual, expected map[string]any, err error) {
	bare := live.DeepCopyObject().(Object)
	bare.SetManagedFields(nil) // Managed fields may not even be JSON.
	if actual, err = runtime.DefaultUnstructuredConverter.ToUnstructured(bare); err != nil {
		return nil, nil, fmt.Errorf("read the live object: %w", err)
	}
	if expected, err = runtime.DefaultUnstructuredConverter.ToUnstructured(desired); err != nil {
		return nil, nil, fmt.Errorf("read the desired object: %w", err)
	}
	return actual, expected, nil
}

// topmost shortens the path of a removed value to the highest part that was removed, such as the list item instead of
// each of its fields.
func topmost(actual map[string]any, changed *fieldpath.Set) []fieldpath.Path {
	var paths []fieldpath.Path
	for path := range changed.All() {
		top := len(path)
		for i := range path {
			if _, found := find(actual, path[:i+1]); !found {
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

// withoutOwnAnnotations leaves out the operator's own annotations, which change with other fields. It keeps them if
// nothing else changed.
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

// IsOwnAnnotation reports whether a path is an annotation in which the operator records its own state.
func IsOwnAnnotation(path fieldpath.Path) bool {
	last := path[len(path)-1].FieldName
	return last != nil && slices.Contains(notes, *last)
}
