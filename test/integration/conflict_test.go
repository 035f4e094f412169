package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// insist calls act each time that the Deployment changes, until stop is called.
func (w *world) insist(act func(ctx context.Context, deployment *appsv1.Deployment)) (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.ctx)
	changes, err := cluster.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(w.namespace))
	w.Expect(err).NotTo(gomega.HaveOccurred())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for change := range changes.ResultChan() {
			if deployment, ok := change.Object.(*appsv1.Deployment); ok && change.Type != watch.Deleted {
				act(ctx, deployment)
			}
		}
	}()
	return func() { cancel(); changes.Stop(); <-done }
}

// message returns the message of the condition Ready, with times replaced by T.
func (w *world) message() string {
	w.t.Helper()
	ready := meta.FindStatusCondition(get(w, "cache", &cachev1.Memcached{}).Status.Conditions, cachev1.ConditionReady)
	return times.ReplaceAllString(ready.Message, "T")
}

// twoConflictingClients starts two clients that overwrite an owned field as soon as they see the operator's value. One
// uses a forced server-side apply, the other an update.
func (w *world) twoConflictingClients() (stop func()) {
	w.t.Helper()
	stopApplying := w.insist(func(_ context.Context, d *appsv1.Deployment) {
		if d.Spec.Template.Spec.Containers[0].Image != otherImage {
			w.appliedBy("deployer", ofImage(otherImage))
		}
	})
	stopUpdating := w.insist(func(ctx context.Context, d *appsv1.Deployment) {
		if d.Spec.Strategy.RollingUpdate.MaxSurge.IntVal != 2 {
			d.Spec.Strategy.RollingUpdate.MaxSurge.IntVal = 2
			_ = cluster.Update(ctx, d, client.FieldOwner("updater")) // After a conflict, act is called again.
		}
	})
	return func() { stopApplying(); stopUpdating() }
}

// writes returns how many writes the operator has sent since the request with this index, without events.
func (w *world) writes(since int) int {
	requests := w.requests()[since:]
	return count(requests, "patch") + count(requests, "create") - count(requests, "patch events") - count(requests, "create events")
}

func TestFieldManagerConflictEndsWithTheOtherClient(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	spent := len(w.quiet())
	stop := w.twoConflictingClients()

	w.reason("cache", cachev1.ReasonFieldManagerConflict)
	w.quiet()
	message := w.message()

	w.Expect(message).To(gomega.And(
		gomega.HavePrefix(`Deployment "cache": another client keeps overwriting fields: `),
		gomega.ContainSubstring(`"`+memcachedImage+`" -> "`+otherImage+`" by "deployer" (Apply, T)`),
		gomega.ContainSubstring(`.spec.strategy.rollingUpdate.maxSurge 1 -> 2 by "updater" (Update, T)`),
		gomega.ContainSubstring(`Fix: stop "updater" from setting this field, or set spec.rollout of the Memcached to the same value; `+
			`stop "deployer" from setting this field, or set spec.image of the Memcached to the same value`)))
	requests := w.quiet()[spent:]
	t.Logf("the conflict until the first pause: %v", requests)
	if writes := count(requests, "patch"); writes > 12 {
		t.Errorf("%d writes until the first pause: %v", writes, requests)
	}

	stop()
	w.Eventually(func() string { return w.deployment("cache").Spec.Template.Spec.Containers[0].Image }).
		Should(gomega.Equal(memcachedImage), "it tries again after a quarter of a minute")
	w.ready("cache")
}

// TestFieldManagerConflictEndsOnceTheObjectIsAsDesired runs another client that overwrites the operator's value only
// after 7 s. So the conflict, with three writes of the operator, lasts at least 14 s, and the operator then pauses for
// at least 42 s. 7 s of the pause are over when the status reports the conflict. The test then sets the desired value,
// and the conflict must end within 30 s, which is before the end of the pause even on a slow machine.
func TestFieldManagerConflictEndsOnceTheObjectIsAsDesired(t *testing.T) {
	const hesitates, limit = 7 * time.Second, 30 * time.Second
	w := newWorld(t)
	w.memcached("cache", 2)
	w.ready("cache")
	stop := w.insist(func(ctx context.Context, d *appsv1.Deployment) {
		if *d.Spec.Replicas == 4 {
			return
		}
		select {
		case <-time.After(hesitates):
			w.appliedBy("deployer", `{"spec":{"replicas":4}}`)
		case <-ctx.Done():
		}
	})
	mc := w.reason("cache", cachev1.ReasonFieldManagerConflict)
	stop()
	since := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionStalled).LastTransitionTime
	w.appliedBy("deployer", `{"spec":{"replicas":2}}`)
	w.ready("cache")
	if took := time.Since(since.Time); took > limit {
		t.Errorf("the conflict lasted %s, so it ended only after the pause", took)
	}
}

func TestFieldManagerConflictOfAnAutoscalerNamesTheFix(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "cache"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cache"},
			MinReplicas:    new(int32(3)), MaxReplicas: 5,
		},
	}
	w.Expect(cluster.Create(w.ctx, hpa)).To(gomega.Succeed())

	w.reason("cache", cachev1.ReasonFieldManagerConflict)
	const scaled = `.spec.replicas 1 -> 3 by "kube-controller-manager" (Update of scale, no time recorded)`
	w.Expect(w.message()).To(gomega.And(gomega.ContainSubstring(scaled), gomega.HaveSuffix(
		"Fix: an autoscaler scales the Deployment: point the HorizontalPodAutoscaler's scaleTargetRef at the Memcached")))
	w.Eventually(func() string { return strings.Join(w.notes("DriftCorrected"), "\n") }).Should(gomega.ContainSubstring(scaled))

	w.Expect(cluster.Delete(w.ctx, hpa)).To(gomega.Succeed())
	const pause = 5 * patience // On a slow machine, the pause takes minutes: three times as long as the conflict.
	w.Eventually(func() int32 { return *w.deployment("cache").Spec.Replicas }, pause).Should(gomega.Equal(int32(1)))
	w.ready("cache")
}
