package actions

import (
	"context"
	"fmt"
	"math/rand/v2"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// edit is a change to a field that the operator owns. The field is chosen from the object's managed fields, so that new
// fields of the operator are included without an entry here.
type edit struct {
	Kind   string          `json:"kind"`
	Field  int             `json:"field"` // the index of the owned field, modulo their number
	Remove bool            `json:"remove,omitempty"`
	By     string          `json:"by"` // one of byUpdate, byPatch and byApply
	Times  int             `json:"times"`
	Pause  metav1.Duration `json:"pause"`
}

// These requests change a field.
const (
	byUpdate = "update"
	byPatch  = "patch"
	byApply  = "apply" // by forced server-side apply, which cannot remove a field of another manager
)

func edits() []Action {
	return []Action{
		{plan.Action{Name: "a third party edits an owned field", Weight: 6, Draw: func(r *rand.Rand) any {
			return drawEdit(r, 1)
		}}, given(editField)},
		{plan.Action{Name: "a third party keeps editing an owned field", Weight: 2, Draw: func(r *rand.Rand) any {
			return drawEdit(r, 2+r.IntN(7))
		}}, given(editField)},
	}
}

func drawEdit(r *rand.Rand, times int) edit {
	e := edit{drawKind(r), r.IntN(1000), r.IntN(3) == 0, one(r, byUpdate, byPatch, byApply), times, drawPause(r)}
	if e.Remove && e.By == byApply {
		e.By = byUpdate
	}
	return e
}

func editField(ctx context.Context, w *world.World, step plan.Step, with edit) error {
	return often(ctx, w, with.Times, with.Pause.Duration, func(ctx context.Context) error {
		return editOnce(ctx, w, step.Cache, with)
	})
}

// editOnce changes the field. It does nothing if the API server does not accept the value, for example because the
// field is immutable.
func editOnce(ctx context.Context, w *world.World, cache string, with edit) error {
	err := onTarget(ctx, w, with.Kind, cache, func(ctx context.Context, object *unstructured.Unstructured) error {
		fields, err := ownedFields(object)
		if err != nil || len(fields) == 0 {
			return err
		}
		path := fields[with.Field%len(fields)]
		before := object.DeepCopy()
		if with.Remove {
			object.Object, _ = changeAt(object.Object, path, nil).(map[string]any)
		} else {
			object.Object, _ = changeAt(object.Object, path, differing).(map[string]any)
		}
		switch with.By {
		case byUpdate:
			return w.Client.Update(ctx, object, thirdParty)
		case byPatch:
			return w.Client.Patch(ctx, object, client.MergeFrom(before), thirdParty)
		default:
			field := client.ApplyConfigurationFromUnstructured(onlyField(object, path))
			return w.Client.Apply(ctx, field, thirdParty, client.ForceOwnership)
		}
	})
	if apierrors.IsBadRequest(err) {
		return nil
	}
	return err
}

// ownedFields returns the fields that the operator applied last, in a fixed order.
func ownedFields(object *unstructured.Unstructured) (fields []fieldpath.Path, err error) {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != "memcached-operator" || entry.Operation != metav1.ManagedFieldsOperationApply {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("managed fields of %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		set.Leaves().Iterate(func(path fieldpath.Path) { fields = append(fields, path.Copy()) })
	}
	return fields, nil
}

// changeAt returns content in which another(value) has replaced the value at a path. If another is nil, changeAt
// removes the value. changeAt modifies the maps in content.
func changeAt(content any, path fieldpath.Path, another func(any) any) any {
	if len(path) == 0 {
		return another(content)
	}
	last := len(path) == 1 && another == nil
	switch content := content.(type) {
	case map[string]any:
		name := path[0].FieldName
		if name == nil || content[*name] == nil {
			return content
		}
		if last {
			delete(content, *name)
			return content
		}
		content[*name] = changeAt(content[*name], path[1:], another)
		return content
	case []any:
		return changeItem(content, path, last, another)
	}
	return content
}

func changeItem(list []any, path fieldpath.Path, remove bool, another func(any) any) []any {
	changed := make([]any, 0, len(list))
	for _, item := range list {
		switch {
		case !isItem(item, path[0]):
			changed = append(changed, item)
		case !remove:
			changed = append(changed, changeAt(item, path[1:], another))
		}
	}
	return changed
}

// isItem reports whether the path element selects this item of a list.
func isItem(item any, element fieldpath.PathElement) bool {
	if element.Value != nil {
		return fmt.Sprint(item) == fmt.Sprint((*element.Value).Unstructured())
	}
	object, ok := item.(map[string]any)
	if !ok || element.Key == nil {
		return false
	}
	for _, key := range *element.Key {
		if fmt.Sprint(object[key.Name]) != fmt.Sprint(key.Value.Unstructured()) {
			return false
		}
	}
	return true
}

// otherValues has replacements for values that would be invalid with a text appended.
var otherValues = map[string]string{
	"TCP": "UDP", "Ingress": "Egress", "Always": "IfNotPresent", "IfNotPresent": "Always", "In": "NotIn",
	"RuntimeDefault": "Unconfined", "FallbackToLogsOnError": "File", "None": "", "RollingUpdate": "Recreate",
}

// differing returns a value that differs from the given one.
func differing(value any) any {
	switch value := value.(type) {
	case string:
		if other, ok := otherValues[value]; ok {
			return other
		}
		if _, err := resource.ParseQuantity(value); err == nil {
			return "300Mi"
		}
		return value + "-other"
	case int64:
		return value + 1
	case bool:
		return !value
	case []any:
		return value[:max(0, len(value)-1)]
	case map[string]any:
		if _, _, err := unstructured.NestedStringMap(map[string]any{"": value}, ""); err == nil && len(value) > 0 {
			value["third-party"] = "true" // a selector
		}
	}
	return value
}

// onlyField returns an object that has only the kind, the names and the uid of the given object, and the field at the
// path.
func onlyField(object *unstructured.Unstructured, path fieldpath.Path) *unstructured.Unstructured {
	content, _ := onlyAt(object.Object, path).(map[string]any)
	partial := &unstructured.Unstructured{Object: content}
	partial.SetGroupVersionKind(object.GroupVersionKind())
	partial.SetNamespace(object.GetNamespace())
	partial.SetName(object.GetName())
	partial.SetUID(object.GetUID()) // An apply with a uid never creates the object.
	return partial
}

// onlyAt returns only the part of the content that is at the path. It keeps the keys of list items.
func onlyAt(content any, path fieldpath.Path) any {
	if len(path) == 0 {
		return content
	}
	switch content := content.(type) {
	case map[string]any:
		if name := path[0].FieldName; name != nil {
			return map[string]any{*name: onlyAt(content[*name], path[1:])}
		}
	case []any:
		for _, item := range content {
			if isItem(item, path[0]) {
				return []any{withKeys(onlyAt(item, path[1:]), path[0])}
			}
		}
	}
	return content
}

func withKeys(item any, element fieldpath.PathElement) any {
	object, ok := item.(map[string]any)
	if !ok || element.Key == nil {
		return item
	}
	for _, key := range *element.Key {
		if object[key.Name] == nil {
			object[key.Name] = key.Value.Unstructured()
		}
	}
	return object
}
