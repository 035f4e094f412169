package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Held reports whether the operator pauses a Deployment: the field manager that it uses for nothing else has applied
// it. What other clients write, such as an annotation, does not count.
func Held(deployment *appsv1.Deployment) bool {
	return slices.ContainsFunc(deployment.ManagedFields, isHold)
}

func isHold(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == names.HoldOwner && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == ""
}

// onlyHold keeps, of the managed fields of a Deployment, that there is a hold. Few Deployments have one.
func onlyHold(managed []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	if !slices.ContainsFunc(managed, isHold) {
		return nil
	}
	return []metav1.ManagedFieldsEntry{{Manager: names.HoldOwner, Operation: metav1.ManagedFieldsOperationApply}}
}
