// Package cached decides what of an object the operator keeps in its cache: the functions that trim objects before they
// are stored, and those that read a Pod, which give the same answer for the whole Pod and the trimmed one. A field that
// is not kept here is empty wherever the operator reads it.
//
// Ten thousand caches have many Pods and Deployments, and the cache is most of the operator's memory.
package cached

// Trims managed objects, Secrets and Nodes.

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// TrimObject drops fields that the operator does not read before an object is cached. Deployments share equal resource
// lists, which would take more than a quarter of a Deployment's memory. Of the managed fields, only the record of a
// pause is kept.
func TrimObject(object any) (any, error) {
	var managed []metav1.ManagedFieldsEntry
	switch typed := object.(type) {
	case *appsv1.Deployment:
		managed = onlyPause(typed.ManagedFields)
		shareResources(typed.Spec.Template.Spec.InitContainers)
		shareResources(typed.Spec.Template.Spec.Containers)
	case *policyv1.PodDisruptionBudget:
		typed.Status = policyv1.PodDisruptionBudgetStatus{}
	}
	if metadata, err := meta.Accessor(object); err == nil { // Otherwise it is the placeholder of a deleted object.
		metadata.SetManagedFields(managed)
	}
	return object, nil
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
