package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// IsPaused reports whether the operator paused a Deployment: the field manager PauseOwner applied it. Fields that
// other clients write, such as an annotation, do not count.
func IsPaused(deployment *appsv1.Deployment) bool {
	return slices.ContainsFunc(deployment.ManagedFields, isPause)
}

func isPause(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == names.PauseOwner && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == ""
}

// onlyPause reduces the managed fields of a Deployment to the mark of a pause. Few Deployments have one.
func onlyPause(managed []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	if !slices.ContainsFunc(managed, isPause) {
		return nil
	}
	return []metav1.ManagedFieldsEntry{{Manager: names.PauseOwner, Operation: metav1.ManagedFieldsOperationApply}}
}
