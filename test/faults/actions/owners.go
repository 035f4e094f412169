package actions

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// ownership is a change to an object's owner references.
type ownership struct {
	Kind  string `json:"kind"`
	Owner string `json:"owner"` // one of the constants noOwner to formerCache
}

// These are the owners that a step may give to an object.
const (
	noOwner      = "none"
	otherOwner   = "other"         // a ConfigMap, not as its controller
	controller   = "takenOver"     // a ConfigMap, as its controller
	additional   = "additional"    // a ConfigMap in addition to the Memcached
	noController = "notController" // the Memcached, but not as its controller
	formerCache  = "former"        // a Memcached of the same name with another uid
)

func changeOwner(ctx context.Context, w *world.World, step plan.Step, with ownership) error {
	other := &corev1.ConfigMap{}
	err := ask(ctx, func(ctx context.Context) error {
		return w.Client.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: "kube-root-ca.crt"}, other)
	})
	if apierrors.IsNotFound(err) { // Kubernetes has not created it in the new namespace yet.
		return nil
	}
	if err != nil {
		return err
	}
	return onTarget(ctx, w, with.Kind, step.Cache, func(ctx context.Context, object *unstructured.Unstructured) error {
		object.SetOwnerReferences(owners(object.GetOwnerReferences(), with.Owner, other))
		if err := w.Client.Update(ctx, object, thirdParty); err != nil {
			return err
		}
		w.Later(func(ctx context.Context) error { return unblock(ctx, w, object) })
		return nil
	})
}

// owners returns the owner references that an object gets.
func owners(before []metav1.OwnerReference, owner string, other *corev1.ConfigMap) []metav1.OwnerReference {
	reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: other.Name, UID: other.UID}
	switch owner {
	case otherOwner:
		return []metav1.OwnerReference{reference}
	case controller:
		reference.Controller = new(true)
		return []metav1.OwnerReference{reference}
	case additional:
		return append(before, reference)
	}
	if owner == noOwner || len(before) == 0 {
		return nil
	}
	changed := before[0]
	switch owner {
	case noController:
		changed.Controller = nil
	case formerCache:
		changed.UID = "00000000-0000-0000-0000-000000000000"
	}
	return []metav1.OwnerReference{changed}
}
