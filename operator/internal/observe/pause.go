package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Held reports whether the operator pauses a Deployment: the field manager that it uses for nothing else has applied
// it. What other clients write, such as an annotation, does not count.
func IsPaused(deployment *appsv1.Deployment) bool {
	return slices.ContainsFunc(deployment.ManagedFields, isPause)
}

func isPause(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == names.PauseOwner && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == ""
}

// onlyPause keeps, of the managed fields of a Deployment, that there is a hold. Few Deployments have one.
func onlyPause(managed []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	if !slices.ContainsFunc(managed, isPause) {
		return nil
	}
	return []metav1.ManagedFieldsEntry{{Manager: names.PauseOwner, Operation: metav1.ManagedFieldsOperationApply}}
}
