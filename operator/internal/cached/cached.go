// Package cached determines which fields of an object the operator keeps in its cache. It has the functions that trim
// objects before they are stored, and the functions that read a Pod, which return the same result for the whole Pod and
// the trimmed one. A field that is not kept here is empty wherever the operator reads it.
//
// Ten thousand caches have many Pods and Deployments, and the cache is most of the operator's memory.
package cached

// Trims managed objects, Secrets and Nodes.

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// TrimObject drops fields that the operator does not read before a managed object is cached, and stores parts that are
// the same in many objects only once: this halves the memory of a Memcached's objects. Of the managed fields, only the
// record of a pause is kept.
func TrimObject(object any) (any, error) {
	var managed []metav1.ManagedFieldsEntry
	switch typed := object.(type) {
	case *appsv1.Deployment:
		managed = onlyPause(typed.ManagedFields)
		shareSelector(typed.Spec.Selector)
		shareMetadata(&typed.Spec.Template.ObjectMeta)
		sharePodSpec(&typed.Spec.Template.Spec)
	case *corev1.Service:
		typed.Spec.Selector = shareMap(typed.Spec.Selector)
	case *networkingv1.NetworkPolicy:
		shareSelector(&typed.Spec.PodSelector)
	case *policyv1.PodDisruptionBudget:
		shareSelector(typed.Spec.Selector)
		typed.Status = policyv1.PodDisruptionBudgetStatus{}
	}
	if metadata := metadataOf(object); metadata != nil {
		metadata.ManagedFields = managed
		shareMetadata(metadata)
	}
	return object, nil
}

// TrimMemcached drops the managed fields of a Memcached.
func TrimMemcached(object any) (any, error) {
	if mc, ok := object.(*cachev1.Memcached); ok {
		mc.ManagedFields = nil
		shareMetadata(&mc.ObjectMeta)
		shareConditions(mc.Status.Conditions)
	}
	return object, nil
}

// metadataOf returns the metadata of an object, or nil for the placeholder of a deleted object.
func metadataOf(object any) *metav1.ObjectMeta {
	if accessor, ok := object.(metav1.ObjectMetaAccessor); ok {
		metadata, _ := accessor.GetObjectMeta().(*metav1.ObjectMeta)
		return metadata
	}
	return nil
}

// IsPause reports whether an entry of the managed fields is the record of a pause.
func IsPause(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == names.PauseOwner && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == ""
}

// onlyPause reduces the managed fields of a Deployment to the record of a pause. Few Deployments have one.
func onlyPause(managed []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	if !slices.ContainsFunc(managed, IsPause) {
		return nil
	}
	return []metav1.ManagedFieldsEntry{{Manager: names.PauseOwner, Operation: metav1.ManagedFieldsOperationApply}}
}

// TrimSecret keeps only the metadata that identifies a version.
func TrimSecret(object any) (any, error) {
	if secret, ok := object.(*metav1.PartialObjectMetadata); ok {
		secret.ObjectMeta = metav1.ObjectMeta{
			Name: secret.Name, Namespace: secret.Namespace, UID: secret.UID, ResourceVersion: secret.ResourceVersion,
		}
	}
	return object, nil
}
