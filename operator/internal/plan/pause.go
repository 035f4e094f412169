package plan

// Decides whether to pause a rollout.

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// MustPause reports whether to pause a rollout. A rollout is paused if it is in progress when the Memcached is
// suspended. Rollouts that the user starts later, while the Memcached is suspended, are not paused. The condition
// Suspended distinguishes the two: it is written after the pause.
func MustPause(mc *cachev1.Memcached, live *appsv1.Deployment) bool {
	return mc.Spec.Suspend && live != nil && metav1.IsControlledBy(live, mc) && live.DeletionTimestamp.IsZero() &&
		!meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionSuspended) && rollsOut(live)
}

func rollsOut(live *appsv1.Deployment) bool {
	return live.Status.ObservedGeneration < live.Generation || live.Status.UpdatedReplicas < live.Status.Replicas
}
