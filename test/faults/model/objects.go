package model

import (
	"cmp"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// These are the names of the operator's own field managers, annotations and selector, as in its documentation.
const (
	fieldManager = "memcached-operator"
	pauseManager = "memcached-operator-pause"
	appliedHash  = "cache.example.com/applied-hash"
)

// controllerOf returns the owner reference of the controller; its zero value if there is none.
func controllerOf(o *object) metav1.OwnerReference {
	if o == nil {
		return metav1.OwnerReference{}
	}
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil {
		return *owner
	}
	return metav1.OwnerReference{}
}

// value returns a field; nil if it is not set.
func value(o *object, path ...string) any {
	if o == nil {
		return nil
	}
	found, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return found
}

func text(o *object, path ...string) string {
	found, _ := value(o, path...).(string)
	return found
}

func number(o *object, path ...string) int64 {
	found, _ := value(o, path...).(int64)
	return found
}

// decoded converts an object. It ignores errors, because the API server has validated the object.
func decoded[T any](fields map[string]any) *T {
	to := new(T)
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(fields, to)
	return to
}

// bodyOf returns the object that a request sent. It is nil if the body is no object, for example a JSON patch.
func bodyOf(q *audit.Request) *object {
	body := map[string]any{}
	if json.Unmarshal(q.Body, &body) != nil || len(body) == 0 {
		return nil
	}
	return &object{Object: runtime.DeepCopyJSON(integers(body).(map[string]any))}
}

// integers converts whole numbers to int64, as in objects that Kubernetes' libraries decode.
func integers(value any) any {
	switch value := value.(type) {
	case float64:
		if whole := int64(value); float64(whole) == value {
			return whole
		}
	case map[string]any:
		for name := range value {
			value[name] = integers(value[name])
		}
	case []any:
		for i := range value {
			value[i] = integers(value[i])
		}
	}
	return value
}

// isTrue reports whether a condition of a Memcached is True.
func isTrue(mc *cachev1.Memcached, condition string) bool {
	return conditionOf(mc, condition).Status == metav1.ConditionTrue
}

// conditionOf returns a condition; its zero value if it is not set.
func conditionOf(mc *cachev1.Memcached, condition string) metav1.Condition {
	for _, found := range mc.Status.Conditions {
		if found.Type == condition {
			return found
		}
	}
	return metav1.Condition{}
}

func sizeOf(mc *cachev1.Memcached) int64 {
	if mc.Spec.Size == nil {
		return 1
	}
	return int64(*mc.Spec.Size)
}

func sortedByName(objects []*object) []*object {
	slices.SortFunc(objects, func(a, b *object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return objects
}

// isReady reports whether a Pod is ready and not terminating.
func isReady(pod *object) bool {
	conditions, _ := value(pod, "status", "conditions").([]any)
	return pod.GetDeletionTimestamp() == nil && slices.ContainsFunc(conditions, func(condition any) bool {
		fields, _ := condition.(map[string]any)
		return fields["type"] == "Ready" && fields["status"] == "True"
	})
}
