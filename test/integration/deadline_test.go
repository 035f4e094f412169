package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// stalled waits until the status reports that the progress deadline is exceeded, with this cause. On a busy machine,
// the deadline may pass before the operator has seen the cause, so the cause may come later.
func (w *world) stalled(name, cause string) {
	w.t.Helper()
	w.reason(name, cachev1.ReasonProgressDeadlineExceeded)
	eventually(w, name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		stalled := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionStalled)
		const deadline = "No progress for 2 seconds (spec.rollout.progressDeadlineSeconds): "
		return stalled != nil && strings.HasPrefix(stalled.Message, deadline) && strings.Contains(stalled.Message, cause)
	})
}

// setPods changes the Pods that are not ready, instead of the scheduler or the kubelet, and waits until their number is
// as given.
func (w *world) setPods(number int, set func(*corev1.Pod)) {
	w.t.Helper()
	w.Eventually(func() int {
		pods := slices.DeleteFunc(w.pods("cache"), hasReady)
		for i := range pods {
			set(&pods[i])
			_ = cluster.Status().Update(w.ctx, &pods[i]) // If the Pod was deleted, it is not counted next time.
		}
		return len(pods)
	}).Should(gomega.Equal(number))
}

func canNotBeScheduled(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "no room",
	}}
}

func canNotBePulled(pod *corev1.Pod) {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "memcached", Image: "x",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}},
	}}
}

func crashes(pod *corev1.Pod) {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "memcached", Image: "x",
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 71, Reason: "Error"}},
	}}
}

// TestProgressDeadlineExceededUntilTheCacheProgresses uses the real Deployment controller. Once a Deployment was
// complete, this controller no longer reports its deadline, so the operator has to find out by itself.
func TestProgressDeadlineExceededUntilTheCacheProgresses(t *testing.T) {
	quota := func(w *world) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "small"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("2")}},
		}
	}
	tests := map[string]struct {
		fail  func(w *world)
		cause string
		fix   func(w *world)
	}{
		"a rollout to an image that can't be pulled": {
			fail:  func(w *world) { w.patchSpec(`{"image":"x"}`); w.setPods(1, canNotBePulled) },
			cause: `image "x" of container "memcached" cannot be pulled`,
			fix:   func(w *world) { w.patchSpec(`{"image":null}`) },
		},
		"Pods that were added and can't be scheduled": {
			fail:  func(w *world) { w.patchSpec(`{"size":4}`); w.setPods(2, canNotBeScheduled) },
			cause: "2 Pods: cannot be scheduled: no room",
			fix:   func(w *world) { w.setPods(2, func(pod *corev1.Pod) { pod.Status.Conditions = nil }) },
		},
		"a Pod that was added and crashes": {
			fail:  func(w *world) { w.patchSpec(`{"size":3}`); w.setPods(1, crashes) },
			cause: `container "memcached" exited with code 71`,
			fix: func(w *world) {
				w.setPods(1, func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil })
			},
		},
		"a quota that has no room for more Pods": {
			fail: func(w *world) {
				w.Expect(cluster.Create(w.ctx, quota(w))).To(gomega.Succeed())
				w.quotaIsKnown()
				w.patchSpec(`{"size":3}`)
			},
			cause: "Pods cannot be created: exceeded quota: small",
			fix: func(w *world) {
				w.patch(&corev1.ResourceQuota{}, "small", `{"spec":{"hard":{"pods":"9"}}}`)
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.memcached("cache", 2)
			w.patchSpec(`{"rollout":{"progressDeadlineSeconds":2}}`)
			w.ready("cache")
			w.Expect(*w.deployment("cache").Spec.ProgressDeadlineSeconds).To(gomega.Equal(int32(2)))

			tc.fail(w)
			w.stalled("cache", tc.cause)
			before := len(w.quiet())
			w.Consistently(func() int { return len(audit.requestsOf(t, w.namespace)) }).WithTimeout(3*time.Second).
				Should(gomega.Equal(before), "a cache that is Stalled costs nothing")

			tc.fix(w)
			w.ready("cache")
		})
	}
}

// TestALongRolloutIsNeverProgressDeadlineExceeded makes a rollout that takes longer than the deadline, but progresses
// every two seconds.
func TestALongRolloutIsNeverProgressDeadlineExceeded(t *testing.T) {
	const pace = 2 * time.Second // A busy machine may add several seconds to each step.
	w := newWorld(t)
	history := w.history("cache")
	w.memcached("cache", 8)
	w.patchSpec(`{"rollout":{"progressDeadlineSeconds":15,"maxSurge":8}}`)
	w.Eventually(func() int { return len(w.pods("cache")) }).Should(gomega.Equal(8))
	for made := range 8 {
		w.oneMoreBecomesReady()
		w.says("cache", "of 8 Pods ready")
		w.Eventually(func() int32 { return w.deployment("cache").Status.ReadyReplicas }).WithPolling(pace).
			Should(gomega.BeEquivalentTo(made + 1))
	}
	w.ready("cache")
	w.patchSpec(`{"size":16}`)
	w.Eventually(func() int { return len(w.pods("cache")) }).Should(gomega.Equal(16))
	w.setPods(8, canNotBeScheduled)
	for made := range 8 {
		w.oneMoreBecomesReady()
		w.Eventually(func() int32 { return w.deployment("cache").Status.ReadyReplicas }).WithPolling(pace).
			Should(gomega.BeEquivalentTo(8 + made + 1))
	}
	w.ready("cache")
	for _, seen := range history() {
		if stalled := meta.FindStatusCondition(seen.Conditions, cachev1.ConditionStalled); stalled != nil {
			t.Errorf("the cache was Stalled: %s", stalled.Message)
		}
	}
}

// oneMoreBecomesReady makes one more Pod ready, instead of the kubelet.
func (w *world) oneMoreBecomesReady() {
	w.t.Helper()
	for _, pod := range w.pods("cache") {
		if !hasReady(pod) {
			pod.Status.Conditions = nil
			makeReady(w, &pod)
			return
		}
	}
}

// history records each status that a cache has from now on. The returned function ends this, and returns the recorded
// statuses.
func (w *world) history(name string) func() []cachev1.MemcachedStatus {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.ctx)
	watch, err := cluster.Watch(ctx, &cachev1.MemcachedList{}, client.InNamespace(w.namespace))
	w.Expect(err).NotTo(gomega.HaveOccurred())
	var seen []cachev1.MemcachedStatus
	var recorded sync.WaitGroup
	recorded.Go(func() {
		for event := range watch.ResultChan() {
			mc, ok := event.Object.(*cachev1.Memcached)
			if ok && mc.Name == name && (len(seen) == 0 || fmt.Sprint(seen[len(seen)-1]) != fmt.Sprint(mc.Status)) {
				seen = append(seen, mc.Status)
			}
		}
	})
	return func() []cachev1.MemcachedStatus {
		stop()
		watch.Stop()
		recorded.Wait()
		return seen
	}
}
