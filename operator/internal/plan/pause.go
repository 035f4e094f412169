package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// mustPause tells whether a rollout is to be stopped where it is: one that is under way when the Memcached is
// suspended. What somebody rolls out by hand later, while it is suspended, is theirs. The condition Suspended, which is
// written after the rollout was stopped, tells the two apart.
func mustPause(mc *cachev1.Memcached, live *appsv1.Deployment) bool {
	return mc.Spec.Suspend && live != nil && metav1.IsControlledBy(live, mc) && live.DeletionTimestamp.IsZero() &&
		!meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionSuspended) && rollsOut(live)
}

func rollsOut(live *appsv1.Deployment) bool {
	return live.Status.ObservedGeneration < live.Generation || live.Status.UpdatedReplicas < live.Status.Replicas
}
