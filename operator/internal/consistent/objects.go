package consistent

// Reads versions from events and from the API server's answers.

import (
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Predicate observes each change that the cache shows, and filters no events. Put it before all other predicates,
// because a predicate does not see the events that an earlier predicate has filtered.
func (c *Client) Predicate() predicate.Predicate {
	show := func(object client.Object) bool {
		return c.hear(object, c.records.hear, func(awaited *record) bool { return awaited.isShownBy(object) })
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return show(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return show(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool {
			return c.hear(e.Object, c.records.hearDeletion, func(awaited *record) bool {
				return awaited.isOverBy(e.Object, e.DeleteStateUnknown)
			})
		},
	}
}

// hear reports an event to the records. The event ends the wait for a write of this object if ends returns true for the
// record of the write.
func (c *Client) hear(object client.Object, report func(identity, func(*record) bool), ends func(*record) bool) bool {
	if c.records.isEmpty() {
		return true
	}
	// The operator writes no objects that can't be identified.
	if id, err := c.identify(object, client.ObjectKeyFromObject(object)); err == nil {
		report(id, ends)
	}
	return true
}

func (c *Client) identify(object client.Object, key client.ObjectKey) (identity, error) {
	kind, err := apiutil.GVKForObject(object, c.Scheme())
	return identity{kind, key}, err
}

// readAnswer reads the identity and the metadata from an apply configuration, which holds the API server's answer.
// The generated configurations embed both under the same names, but have no method for them.
func readAnswer(configuration runtime.ApplyConfiguration) (identity, metav1.Object, error) {
	fields := reflect.Indirect(reflect.ValueOf(configuration))
	kind, isKind := embedded[metav1ac.TypeMetaApplyConfiguration](fields, "TypeMetaApplyConfiguration")
	metadata, isMetadata := embedded[*metav1ac.ObjectMetaApplyConfiguration](fields, "ObjectMetaApplyConfiguration")
	if !isKind || !isMetadata || metadata == nil {
		return identity{}, nil, fmt.Errorf("%T has no metadata", configuration)
	}
	answer := &metav1.ObjectMeta{
		Namespace: dereference(metadata.Namespace), Name: dereference(metadata.Name), Labels: metadata.Labels,
		UID: dereference(metadata.UID), ResourceVersion: dereference(metadata.ResourceVersion),
	}
	return identity{
		kind: schema.FromAPIVersionAndKind(dereference(kind.APIVersion), dereference(kind.Kind)),
		key:  types.NamespacedName{Namespace: answer.Namespace, Name: answer.Name},
	}, answer, nil
}

func embedded[T any](fields reflect.Value, name string) (found T, ok bool) {
	if field := fields.FieldByName(name); field.IsValid() {
		found, ok = reflect.TypeAssert[T](field)
	}
	return found, ok
}

func dereference[T any](pointer *T) (value T) {
	if pointer != nil {
		value = *pointer
	}
	return value
}

// unlessMissing returns the object that was read, or nil if it does not exist.
func unlessMissing(object metav1.Object, err error) metav1.Object {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return object
}
