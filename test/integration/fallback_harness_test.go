package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/internal/testing/slotwatch"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// handedOver is a cache with two slots. A rollout hands its slots over to new Pods, and the test makes something fail.
type handedOver struct {
	*slotWorld

	name   string
	of     *slotWorld // acts instead of the kubelet and the agents
	before map[string]string
	watch  *slotwatch.Watch
}

// handedOver creates a cache with two slots in the world, for one test.
func (w *slotWorld) handedOver(t *testing.T, name string, timeout int32) *handedOver {
	t.Helper()
	inner := *w.world
	inner.t, inner.ctx, inner.WithT = t, t.Context(), gomega.NewWithT(t)
	inner.SetDefaultEventuallyTimeout(patience)
	inner.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	h := &handedOver{slotWorld: &slotWorld{world: &inner}, name: name, of: w}
	h.memcachedWithSlots(name, 2, cachev1.SlotsClusterIP, func(spec *cachev1.MemcachedSpec) {
		spec.Slots.Handoff = &cachev1.Handoff{TimeoutSeconds: &timeout}
	})
	h.before = h.holders(name)
	var err error
	h.watch, err = slotwatch.Start(h.ctx, cluster, h.namespace, name)
	h.Expect(err).NotTo(gomega.HaveOccurred())
	return h
}

// act changes what the kubelet reports about the cache's Pods from now on.
func (h *handedOver) act(a act) { h.of.acts.Store(h.name, a) }

// actWell makes all copies succeed from now on.
func (h *handedOver) actWell() { h.of.acts.Delete(h.name) }

// slot is the name of a slot.
func (h *handedOver) slot(number string) string { return h.name + "-" + number }

// rollOut starts a rollout that replaces all Pods.
func (h *handedOver) rollOut() {
	h.t.Helper()
	h.change(`{"threads":2}`)
}

// change changes the spec.
func (h *handedOver) change(spec string) {
	h.t.Helper()
	h.patch(&cachev1.Memcached{}, h.name, `{"spec":`+spec+`}`)
}

// copying begins a rollout, waits until the keys of a slot are being copied, and returns the old Pod and the new Pod.
func (h *handedOver) copying(number string) (old, next string) {
	h.t.Helper()
	h.act(h.hangs(number))
	h.rollOut()
	mc := eventually(h.world, h.name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		return slices.ContainsFunc(mc.Status.Slots, func(slot cachev1.SlotStatus) bool {
			return slot.Name == h.slot(number) && slot.State == cachev1.SlotCopying
		})
	})
	for _, slot := range mc.Status.Slots {
		if slot.Name == h.slot(number) {
			old = slot.Pod
		}
	}
	for _, pod := range h.pods(h.name) {
		if o := kubelet.OrderOf(&pod); o.Role == "receive" && o.Slot == h.slot(number) {
			next = pod.Name
		}
	}
	h.Expect(old).To(gomega.Equal(h.before[h.slot(number)]), "the old Pod serves while its keys are copied")
	h.Expect(next).NotTo(gomega.BeEmpty())
	return old, next
}

// hangs returns an act with which the copy of a slot never ends.
func (h *handedOver) hangs(number string) act {
	return func(pod *corev1.Pod, o kubelet.Order) {
		if o.Role == "receive" && o.Slot == h.slot(number) {
			pod.Status.InitContainerStatuses[0].Ready = false
		}
	}
}

// ended returns an act with which a Pod's agent ends once while it copies keys, with an exit code and a message for the
// operator.
func (h *handedOver) ended(name string, code int32, message string) act {
	at := metav1.Now()
	return func(pod *corev1.Pod, o kubelet.Order) {
		if pod.Name != name {
			return
		}
		agent := &pod.Status.InitContainerStatuses[0]
		agent.Ready = agent.Ready && o.Role != "receive"
		agent.RestartCount = 1
		agent.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: code, FinishedAt: at, Message: message,
		}
	}
}

// fails makes the copy of a Pod fail for a reason.
func (h *handedOver) fails(next, reason string) {
	h.act(h.ended(next, 3, `{"reason":"`+reason+`","error":"it failed"}`))
}

// isKilled deletes a Pod immediately, without a grace period.
func (h *handedOver) isKilled(name string) {
	h.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: name}}
	h.Expect(cluster.Delete(h.ctx, pod, client.GracePeriodSeconds(0))).To(gomega.Succeed())
}

// stay checks that the old Pods have the slots.
func (h *handedOver) stay() {
	h.t.Helper()
	if diff := cmp.Diff(h.before, h.holders(h.name)); diff != "" {
		h.t.Errorf("slots (-before +now):\n%s", diff)
	}
}

// outcome is the result of a handoff of a slot: cold for a reason, or with its keys.
type outcome struct {
	Slot   string
	State  cachev1.SlotState
	Reason string
}

// serves waits until the cache is ready. It checks that the slots have their keys, except that slot 0 is cold if a
// reason is given, and that the EndpointSlices never lost a Pod that served.
func (h *handedOver) serves(reason string) {
	h.t.Helper()
	want := []outcome{{h.slot("0"), cachev1.SlotServing, ""}, {h.slot("1"), cachev1.SlotServing, ""}}
	cold := 0
	if reason != "" {
		want[0].State, want[0].Reason = cachev1.SlotCold, reason
		cold = 1
	}
	var got []outcome
	mc := h.reason(h.name, cachev1.ReasonAllPodsReady)
	h.Eventually(func() []outcome {
		mc, got = get(h.world, h.name, mc), nil
		for _, slot := range mc.Status.Slots {
			h.Expect(mc.Status.Nodes).To(gomega.ContainElement(slot.Pod))
			got = append(got, outcome{slot.Name, slot.State, slot.Reason})
		}
		return got
	}).Should(gomega.Equal(want))
	h.Expect(mc.Status.Nodes).To(gomega.HaveLen(2))
	for _, slot := range mc.Status.Slots {
		h.Expect(h.holders(h.name)).To(gomega.HaveKeyWithValue(slot.Name, slot.Pod))
	}
	h.Eventually(h.coldStarts).Should(gomega.HaveLen(cold))
	for _, note := range h.coldStarts() {
		h.Expect(note).To(gomega.And(gomega.HavePrefix("Slot "+h.slot("0")), gomega.HaveSuffix("("+reason+")")))
	}
	for slot, pod := range h.holders(h.name) {
		h.Eventually(func() string { return h.watch.Holder(h.name+"-slots-ipv4", slot) }).Should(gomega.Equal(pod), slot)
	}
	h.Expect(h.watch.End()).To(gomega.BeEmpty(), "what clients saw")
}

// coldStarts returns the notes of the events about slots of the cache that lost their keys.
func (h *handedOver) coldStarts() (notes []string) {
	h.t.Helper()
	list := &eventsv1.EventList{}
	h.Expect(cluster.List(h.ctx, list, client.InNamespace(h.namespace))).To(gomega.Succeed())
	for i := range list.Items {
		if event := &list.Items[i]; event.Reason == "SlotStartedCold" && event.Regarding.Name == h.name {
			notes = append(notes, event.Note)
		}
	}
	return notes
}

// says waits until the message of the condition Ready contains the words.
func (h *handedOver) says(words string) {
	h.t.Helper()
	eventually(h.world, h.name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		for _, condition := range mc.Status.Conditions {
			if condition.Type == cachev1.ConditionReady {
				return strings.Contains(condition.Message, words)
			}
		}
		return false
	})
}
