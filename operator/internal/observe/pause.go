package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/example-inc/memcached-operator/operator/internal/cached"
)

// IsPaused reports whether the operator paused a Deployment: the field manager PauseOwner applied it. Fields that
// other clients write, such as an annotation, do not count.
func IsPaused(deployment *appsv1.Deployment) bool {
	return slices.ContainsFunc(deployment.ManagedFields, cached.IsPause)
}
