package history

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// sizes are the fields that the scale subresource of each kind sets.
var sizes = map[string][]string{"Memcached": {"spec", "size"}, "Deployment": {"spec", "replicas"}}

// applyScales replaces each stored Scale: the object whose size it changed, with the new size, becomes the state. It
// omits a Scale of an object that was never seen.
func applyScales(entries []Entry) []Entry {
	last := map[types.UID]*unstructured.Unstructured{}
	return slices.DeleteFunc(entries, func(e Entry) bool {
		if e.State == nil {
			return false
		}
		uid := e.State.Object.GetUID()
		if e.State.Object.GetKind() == "Scale" {
			if last[uid] == nil {
				return true
			}
			e.State.Object = scaled(last[uid], e.State.Object)
		}
		last[uid] = e.State.Object
		return false
	})
}

func scaled(before, scale *unstructured.Unstructured) *unstructured.Unstructured {
	object := before.DeepCopy()
	object.SetResourceVersion(scale.GetResourceVersion())
	object.SetGeneration(before.GetGeneration() + 1)
	size, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas")
	_ = unstructured.SetNestedField(object.Object, size, sizes[before.GetKind()]...) // Each such object has a spec.
	return object
}
