package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

func TestADeploymentIsCompleteOnceAllItsPodsAreReady(t *testing.T) {
	for sentence, tc := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"all Pods are ready":              {func(*appsv1.Deployment) {}, true},
		"its size is zero":                {func(d *appsv1.Deployment) { *d = appsv1.Deployment{}; d.Spec.Replicas = new(int32(0)) }, true},
		"its status is outdated":          {func(d *appsv1.Deployment) { d.Generation = 3 }, false},
		"a Pod is missing":                {func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) }, false},
		"an older Pod still exists":       {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 2 }, false},
		"a Pod is not ready":              {func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 2 }, false},
		"a Pod is not ready long enough":  {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 2 }, false},
		"a Pod more is still to be ended": {func(d *appsv1.Deployment) { d.Status.Replicas = 4 }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			live := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))}}
			rolledOut(live)
			tc.change(live)
			if got := isComplete(live); got != tc.want {
				t.Errorf("complete: %v", got)
			}
		})
	}
	if isComplete(nil) {
		t.Error("a Deployment that does not exist is complete")
	}
}

// TestAnUpdateEndsOnceTheCacheIsReadyAlsoIfTheOperatorIsRestarted: an update has not ended only because the Deployment
// has all its Pods.
func TestAnUpdateEndsOnceTheCacheIsReadyAlsoIfTheOperatorIsRestarted(t *testing.T) {
	f := newFleet(t, 1, "a")
	f.pending["a"] = false
	meta.SetStatusCondition(&f.caches["a"].Status.Conditions, metav1.Condition{
		Type: cachev1.ConditionUpdatePending, Status: metav1.ConditionFalse, Reason: cachev1.ReasonUpdateInProgress,
	})
	for reason, want := range map[string]phase{
		cachev1.ReasonCertificateExpired: updating, cachev1.ReasonAllPodsReady: settled,
	} {
		f.becomes("a", reason)
		f.entries[client.ObjectKeyFromObject(f.caches["a"])].phase = unseen
		if entry := f.enter(candidate{memcached: f.caches["a"], planned: true, usable: true, complete: true}); entry.phase != want {
			t.Errorf("%s: phase %d, want %d", reason, entry.phase, want)
		}
	}
}
