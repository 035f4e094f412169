package integration

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestAHandoffThatCannotSucceedEndsInACacheThatServes: at worst, slot 0 ends cold (without its keys), and the status
// says why.
func TestAHandoffThatCannotSucceedEndsInACacheThatServes(t *testing.T) {
	tests := map[string]struct {
		timeout int32
		happens func(*handedOver)
		reason  string // reason for slot 0, if it ends cold
	}{
		"the copy fails": {happens: func(h *handedOver) {
			_, next := h.copying("0")
			h.fails(next, "LogLinesLost")
		}, reason: "LogLinesLost"},
		"the copy fails, and the agent cannot say why": {happens: func(h *handedOver) {
			_, next := h.copying("0")
			h.act(h.ended(next, 3, ""))
		}, reason: "HandoffFailed"},
		"the copy takes too long": {timeout: 10, happens: func(h *handedOver) {
			h.copying("0")
		}, reason: "HandoffTimedOut"},
		"the copy takes too long, and the spec is refused in the meantime": {timeout: 10, happens: func(h *handedOver) {
			h.copying("0")
			h.whileRefused("HandoffTimedOut")
		}, reason: "HandoffTimedOut"},
		"a Pod is killed while the spec is refused": {happens: func(h *handedOver) {
			h.change(refused)
			h.reason(h.name, cachev1.ReasonInvalidSpec)
			h.isKilled(h.before[h.slot("0")])
			h.whileRefused("PodLost")
		}, reason: "PodLost"},
		"the old Pod is killed": {happens: func(h *handedOver) {
			old, _ := h.copying("0")
			h.isKilled(old)
		}, reason: "PodLost"},
		"the Node of the old Pod has no memory left, and evicts it": {happens: func(h *handedOver) {
			old, _ := h.copying("0")
			h.act(func(pod *corev1.Pod, o kubelet.Order) {
				h.hangs("0")(pod, o)
				if pod.Name == old {
					evicted(pod)
				}
			})
		}, reason: "PodLost"},
		"memcached in the new Pod is killed for its memory": {happens: func(h *handedOver) {
			_, next := h.copying("0")
			h.fails(next, "NewEnded")
		}, reason: "NewEnded"},
		"the new Pod is killed, and the next one copies": {happens: func(h *handedOver) {
			_, next := h.copying("0")
			h.isKilled(next)
			h.actWell()
		}},
		"the agent of the new Pod is killed, and copies again": {happens: func(h *handedOver) {
			_, next := h.copying("0")
			h.act(h.ended(next, 137, ""))
			h.Eventually(func() int32 {
				return get(h.world, next, &corev1.Pod{}).Status.InitContainerStatuses[0].RestartCount
			}).Should(gomega.Equal(int32(1)))
			h.actWell()
		}},
		"the agent of the old Pod is killed, and memcached serves": {happens: func(h *handedOver) {
			old, _ := h.copying("0")
			h.act(func(pod *corev1.Pod, o kubelet.Order) {
				h.hangs("0")(pod, o)
				if pod.Name == old {
					pod.Status.InitContainerStatuses[0].Ready = false
				}
			})
			eventually(h.world, h.name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
				return mc.Status.ReadyReplicas == 1
			})
			h.stay()
			h.actWell()
		}},
		"no Node has room for the new Pod": {happens: func(h *handedOver) {
			h.act(func(pod *corev1.Pod, _ kubelet.Order) {
				if pod.Name != h.before[h.slot("0")] && pod.Name != h.before[h.slot("1")] {
					unschedulable(pod)
				}
			})
			h.rollOut()
			h.says("cannot be scheduled: 0/1 nodes are available: 1 Insufficient memory")
			h.stay()
			h.act(scheduled)
		}},
		"the user takes the change back": {happens: func(h *handedOver) {
			h.copying("0")
			h.change(`{"threads":null}`)
			h.reason(h.name, cachev1.ReasonAllPodsReady)
			h.stay()
		}},
		"the user takes the change back after a slot has moved": {happens: func(h *handedOver) {
			h.copying("1")
			h.change(`{"threads":null}`)
			h.reason(h.name, cachev1.ReasonAllPodsReady)
			h.Expect(h.holders(h.name)).To(gomega.HaveKeyWithValue(h.slot("1"), h.before[h.slot("1")]))
		}},
		"the user suspends the cache, and resumes it when all is copied": {timeout: 10, happens: func(h *handedOver) {
			_, next := h.copying("0")
			h.suspend()
			h.actWell()
			h.Eventually(func() bool {
				return get(h.world, next, &corev1.Pod{}).Status.InitContainerStatuses[0].Ready
			}).Should(gomega.BeTrue())
			h.stay()
			h.change(`{"suspend":false}`)
		}},
		"the user suspends the cache, and the old Pod is killed and created again": {happens: func(h *handedOver) {
			old, _ := h.copying("0")
			h.suspend()
			h.isKilled(old)
			h.Eventually(func() []string { return podNames(h.pods(h.name)) }).Should(
				gomega.And(gomega.HaveLen(3), gomega.Not(gomega.ContainElement(old))))
			h.change(`{"suspend":false}`)
		}, reason: "PodLost"},
	}
	w := newSlotWorld(t)
	number := 0
	for name, tc := range tests {
		number++
		cache := fmt.Sprintf("cache%d", number)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := w.handedOver(t, cache, cmp.Or(tc.timeout, 600))
			tc.happens(h)
			h.serves(tc.reason)
		})
	}
}

// suspend suspends the cache, and waits until the operator has stopped writing.
func (h *handedOver) suspend() {
	h.t.Helper()
	h.change(`{"suspend":true}`)
	eventually(h.world, h.name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		return meta.IsStatusConditionTrue(mc.Status.Conditions, cachev1.ConditionSuspended)
	})
	h.Expect(h.deployment(h.name).Spec.Paused).To(gomega.BeTrue())
}

// evicted gives a Pod the status of a Pod that the kubelet has evicted.
func evicted(pod *corev1.Pod) {
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
	pod.Status.ContainerStatuses[0].Ready, pod.Status.InitContainerStatuses[0].Ready = false, false
	kubelet.SetCondition(&pod.Status, corev1.PodReady, false, "")
}

// unschedulable gives a Pod the status of a Pod for which no Node has room.
func unschedulable(pod *corev1.Pod) {
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodPending, "", nil
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = nil, nil
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/1 nodes are available: 1 Insufficient memory.",
	}}
}

// scheduled gives a Pod the status of a Pod that got a Node.
func scheduled(pod *corev1.Pod, _ kubelet.Order) {
	kubelet.SetCondition(&pod.Status, corev1.PodScheduled, true, "")
}
