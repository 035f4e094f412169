package plan

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestARolloutIsPausedWhenTheMemcachedIsSuspended(t *testing.T) {
	tests := map[string]struct {
		change func(*cachev1.Memcached, *appsv1.Deployment)
		want   bool
	}{
		"an old Pod is left":          {func(*cachev1.Memcached, *appsv1.Deployment) {}, true},
		"its status is outdated":      {func(_ *cachev1.Memcached, d *appsv1.Deployment) { d.Generation, d.Status.UpdatedReplicas = 3, 4 }, true},
		"no rollout":                  {func(_ *cachev1.Memcached, d *appsv1.Deployment) { d.Status.UpdatedReplicas = 4 }, false},
		"it is not suspended":         {func(mc *cachev1.Memcached, _ *appsv1.Deployment) { mc.Spec.Suspend = false }, false},
		"the Deployment is another's": {func(_ *cachev1.Memcached, d *appsv1.Deployment) { d.OwnerReferences = nil }, false},
		"the Deployment is being deleted": {func(_ *cachev1.Memcached, d *appsv1.Deployment) {
			d.DeletionTimestamp = new(metav1.Now())
		}, false},
		"it was suspended before, and a user started a rollout": {func(mc *cachev1.Memcached, _ *appsv1.Deployment) {
			mc.Status.Conditions = []metav1.Condition{{Type: cachev1.ConditionSuspended, Status: metav1.ConditionTrue}}
		}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mc := memcachedWith(cachev1.MemcachedSpec{Suspend: true})
			live := &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Generation: 2, OwnerReferences: []metav1.OwnerReference{{UID: mc.UID, Controller: new(true)}}},
				Status:     appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 2},
			}
			tc.change(mc, live)
			if got := MustPause(mc, live); got != tc.want {
				t.Errorf("must pause: %t, want %t", got, tc.want)
			}
		})
	}
	if MustPause(memcachedWith(cachev1.MemcachedSpec{Suspend: true}), nil) {
		t.Error("there is nothing to pause")
	}
}
