//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/proc"
	"github.com/example-inc/memcached-operator/internal/testing/slotwatch"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// fallbackKeys is the number of keys in each Pod. With values of 1 KiB and the rate of the test, a copy takes 31
// seconds. This is enough time to cause each failure during the copy, even on a busy machine.
const fallbackKeys = 2000

// TestAHandoffThatFailsLeavesACacheThatServes runs one rollout of three slots. The handoff of each slot fails in a
// different way. The failures that need no real processes are in test/integration.
func TestAHandoffThatFailsLeavesACacheThatServes(t *testing.T) {
	c.shared(t)
	it := newCache(t, "fallback", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), TerminationDelaySeconds: new(int32(1)),
		Slots: &cachev1.Slots{Handoff: &cachev1.Handoff{
			BytesPerSecond: new(resource.MustParse("64Ki")), TimeoutSeconds: new(int32(90)),
		}},
	})
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	it.isServing(cachev1.SlotServing)
	for i, slot := range it.get().Status.Slots {
		it.fills(slot.Pod, []int{fallbackKeys, fallbackKeys, 5 * fallbackKeys}[i]) // the last has too many for the timeout
	}
	watch, err := slotwatch.Start(t.Context(), c.Client, it.key.Namespace, it.key.Name)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.patch(`{"threads":2}`)

	old, _ := it.copies("fallback-0")
	it.kills(old, "memcached")
	it.endsCold("fallback-0", "OldEnded", "OldUnreachable")

	_, next := it.copies("fallback-1")
	it.kills(next, "agent")

	it.copies("fallback-2")
	kept := it.slot("fallback-1")
	it.Expect([]string{string(kept.State), kept.Reason, kept.Pod}).To(gomega.Equal([]string{"Serving", "", next.Name}))
	it.Expect(it.metricsOf(next.Name).value("memcached_current_items")).To(gomega.BeEquivalentTo(fallbackKeys))

	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	last := it.slot("fallback-2")
	it.Expect([]string{string(last.State), last.Reason}).To(gomega.Equal([]string{"Serving", ""}))
	it.Expect(it.metricsOf(last.Pod).value("memcached_current_items")).To(gomega.And(
		gomega.BeNumerically(">", fallbackKeys/2), gomega.BeNumerically("<", 5*fallbackKeys)))
	it.Expect(watch.End()).To(gomega.BeEmpty(), "what clients saw")
	for _, slot := range it.get().Status.Slots[:2] {
		it.fills(slot.Pod, fallbackKeys)
	}
}

// TestADeletedPodHandsOverItsKeys checks that a deleted Pod hands over its keys, although the kubelet no longer shows
// it changes to its annotations. If memcached dies instead, the status reports the lost keys.
func TestADeletedPodHandsOverItsKeys(t *testing.T) {
	c.shared(t)
	it := newCache(t, "deleted", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), TerminationDelaySeconds: new(int32(10)),
		Slots: &cachev1.Slots{Handoff: &cachev1.Handoff{BytesPerSecond: new(resource.MustParse("256Ki"))}},
	})
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	it.isServing(cachev1.SlotServing)
	old := it.slot("deleted-0").Pod
	it.fills(old, fallbackKeys)
	watch, err := slotwatch.Start(t.Context(), c.Client, it.key.Namespace, it.key.Name)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Eventually(func() string { return watch.Holder("deleted-slots-ipv4", "deleted-0") }).Should(gomega.Equal(old))
	it.deletes(old)

	it.Eventually(func() string { return it.slot("deleted-0").Pod }).ShouldNot(gomega.Equal(old))
	it.drains()
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	it.isServing(cachev1.SlotServing)
	next := it.slot("deleted-0").Pod
	it.Expect(it.metricsOf(next).value("memcached_current_items")).To(gomega.BeEquivalentTo(fallbackKeys))

	// Then another Pod is deleted, and its memcached dies while it drains.
	it.fills(it.slot("deleted-1").Pod, fallbackKeys)
	dying := it.deletes(it.slot("deleted-1").Pod)
	it.Eventually(func() string { return it.slot("deleted-1").Pod }).ShouldNot(gomega.Equal(dying.Name))
	it.kills(dying, "memcached")
	it.endsCold("deleted-1", "OldEnded", "AgentRestarted") // The reason depends on what the agent already knows.
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	it.Expect(watch.End()).To(gomega.BeEmpty(), "what clients saw")
}

func (it *cache) deletes(name string) *corev1.Pod {
	it.t.Helper()
	pod := &corev1.Pod{}
	it.Expect(c.Client.Get(it.t.Context(), client.ObjectKey{Namespace: it.key.Namespace, Name: name}, pod)).To(gomega.Succeed())
	it.Expect(c.Client.Delete(it.t.Context(), pod)).To(gomega.Succeed())
	return pod
}

// slot returns what the status reports about a slot.
func (it *cache) slot(name string) cachev1.SlotStatus {
	it.t.Helper()
	for _, slot := range it.get().Status.Slots {
		if slot.Name == name {
			return slot
		}
	}
	return cachev1.SlotStatus{}
}

// copies waits until some keys of a slot are copied, and returns the old Pod and the new one.
func (it *cache) copies(slot string) (old, next *corev1.Pod) {
	it.t.Helper()
	it.Eventually(func() cachev1.SlotState { return it.slot(slot).State }).Should(gomega.Equal(cachev1.SlotCopying))
	pods := &corev1.PodList{}
	it.Expect(c.Client.List(it.t.Context(), pods, client.InNamespace(it.key.Namespace))).To(gomega.Succeed())
	for i := range pods.Items {
		pod := &pods.Items[i]
		order := pod.Annotations["cache.example.com/handoff"]
		switch {
		case pod.Name == it.slot(slot).Pod:
			old = pod
		case strings.Contains(order, `"slot":"`+slot+`"`) && strings.Contains(order, `"role":"receive"`):
			next = pod
		}
	}
	it.Expect(old).NotTo(gomega.BeNil())
	it.Expect(next).NotTo(gomega.BeNil())
	it.Eventually(func() float64 { return it.metricsOf(next.Name).value("memcached_agent_handoff_keys_total") }).
		Should(gomega.And(gomega.BeNumerically(">", 0), gomega.BeNumerically("<", fallbackKeys)))
	return old, next
}

// kills kills a process of a Pod.
func (it *cache) kills(pod *corev1.Pod, program string) {
	it.t.Helper()
	it.Expect(syscall.Kill(processOf(it.t, pod, program), syscall.SIGKILL)).To(gomega.Succeed())
}

// endsCold waits until the status reports that a slot started cold (without its keys) for one of the reasons, and
// checks the event.
func (it *cache) endsCold(name string, reasons ...string) {
	it.t.Helper()
	var slot cachev1.SlotStatus
	it.Eventually(func() cachev1.SlotState {
		slot = it.slot(name)
		return slot.State
	}).WithTimeout(2 * time.Minute).Should(gomega.Equal(cachev1.SlotCold))
	it.Expect(reasons).To(gomega.ContainElement(slot.Reason))
	it.Expect(slot.Pod).NotTo(gomega.BeEmpty())
	it.t.Logf("%s: %s", name, slot.Reason)
	note := fmt.Sprintf("Slot %s: Pod %s started empty (%s)", name, slot.Pod, slot.Reason)
	it.Eventually(func() (notes []string) {
		events := &eventsv1.EventList{}
		it.Expect(c.Client.List(it.t.Context(), events, client.InNamespace(it.key.Namespace))).To(gomega.Succeed())
		for i := range events.Items {
			notes = append(notes, events.Items[i].Note)
		}
		return notes
	}).Should(gomega.ContainElement(note))
}

// fills stores this number of keys in a Pod.
func (it *cache) fills(name string, keys int) {
	it.t.Helper()
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: it.key.Namespace, Name: name}
	it.Expect(c.Client.Get(it.t.Context(), key, pod)).To(gomega.Succeed())
	it.stores(pod, keys)
	it.Expect(it.metricsOf(name).value("memcached_current_items")).To(gomega.BeEquivalentTo(keys))
}

// stores stores keys in a Pod.
func (it *cache) stores(pod *corev1.Pod, keys int) {
	it.t.Helper()
	err := proc.InNetworkOf(c.pid(it.t, "kubelet"), func() error { return fill(it.t.Context(), pod.Status.PodIP, keys) })
	it.Expect(err).NotTo(gomega.HaveOccurred())
}

func fill(ctx context.Context, ip string, keys int) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(ip, "11211"))
	if err != nil {
		return err
	}
	defer connection.Close()
	writer, value := bufio.NewWriter(connection), strings.Repeat("v", 1<<10)
	for i := range keys {
		fmt.Fprintf(writer, "ms key%d %d q\r\n%s\r\n", i, len(value), value)
	}
	_, _ = writer.WriteString("mn\r\n")
	if err := writer.Flush(); err != nil {
		return err
	}
	answer, err := bufio.NewReader(connection).ReadString('\n')
	if err == nil && answer != "MN\r\n" {
		err = fmt.Errorf("memcached answers %q", answer)
	}
	return err
}
