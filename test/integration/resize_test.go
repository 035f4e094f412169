package integration

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// resizable creates a cache of 64Mi whose running Pods are resized if the memory changes.
func (w *slotWorld) resizable() {
	w.t.Helper()
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Rollout = &cachev1.Rollout{MemoryChange: cachev1.MemoryResize}
	})
}

// memory returns, for each Pod of the cache, the request and the limit of memcached's container, and the memory for
// memcached in the operator's instruction.
func (w *slotWorld) memory() (uids map[string]types.UID, containers, instructed map[string]string) {
	w.t.Helper()
	uids, containers, instructed = map[string]types.UID{}, map[string]string{}, map[string]string{}
	for _, pod := range w.pods("cache") {
		resources := pod.Spec.Containers[0].Resources
		uids[pod.Name] = pod.UID
		containers[pod.Name] = resources.Requests.Memory().String() + " of " + resources.Limits.Memory().String()
		_, memory, _ := strings.Cut(pod.Annotations["cache.example.com/handoff"], `"memory":`)
		instructed[pod.Name], _, _ = strings.Cut(memory, ",")
	}
	return uids, containers, instructed
}

// have waits until the container of each Pod has this request and limit, and the instruction for memcached has this
// number of bytes.
func (w *slotWorld) have(container, instructed string) {
	w.t.Helper()
	w.Eventually(func(g gomega.Gomega) {
		uids, containers, memory := w.memory()
		for pod := range uids {
			g.Expect([]string{containers[pod], memory[pod]}).To(gomega.Equal([]string{container, instructed}))
		}
	}).Should(gomega.Succeed())
}

// resized waits until the kubelet has applied the new memory to the container of each Pod.
func (w *slotWorld) resized() {
	w.t.Helper()
	w.Eventually(func() (left []string) {
		for _, pod := range w.pods("cache") {
			if diff := cmp.Diff(pod.Spec.Containers[0].Resources, *kubelet.ResourcesOf(&pod)); diff != "" {
				left = append(left, pod.Name+": "+diff)
			}
		}
		return left
	}).Should(gomega.BeEmpty())
}

// keepsPods fails if the Pods are not the same as before.
func (w *slotWorld) keepsPods(before map[string]types.UID) {
	w.t.Helper()
	uids, _, _ := w.memory()
	if diff := cmp.Diff(before, uids); diff != "" {
		w.t.Errorf("Pods (-before +after):\n%s", diff)
	}
}

func TestMemoryChangesInTheRunningPods(t *testing.T) {
	w := newSlotWorld(t)
	w.resizable()
	born, _, _ := w.memory()
	for _, step := range []struct{ memory, container, instructed string }{
		{"128Mi", "249Mi of 380Mi", "134217728"},
		{"64Mi", "184Mi of 380Mi", "67108864"}, // with the hash table that 128Mi needs
		{"32Mi", "152Mi of 380Mi", "33554432"},
		{"100500Ki", "218Mi of 380Mi", "102760448"},
	} {
		w.patchSpec(`{"memory":"` + step.memory + `"}`)
		w.served("cache")
		w.have(step.container, step.instructed)
		w.keepsPods(born)
	}
	w.restartsAtRest()
	w.patchSpec(`{"memory":"64Mi","rollout":{"memoryChange":"Replace"}}`) // the memory with which the Pods started
	w.have("184Mi of 380Mi", "67108864")
	w.keepsPods(born)
}

// TestTheModeAndTheMemoryChangeTogether changes both in one write, as one commit does.
func TestTheModeAndTheMemoryChangeTogether(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS)
	born, _, _ := w.memory()
	w.patchSpec(`{"memory":"128Mi","rollout":{"memoryChange":"Resize"}}`)
	w.served("cache")
	w.have("249Mi of 380Mi", "134217728")
	w.keepsPods(born)
}

// TestAPodThatIsReplacedAfterAResizeHandsOver: the new Pod gets the new memory, too.
func TestAPodThatIsReplacedAfterAResizeHandsOver(t *testing.T) {
	w := newSlotWorld(t)
	w.resizable()
	w.patchSpec(`{"memory":"128Mi"}`)
	w.served("cache")
	born, _, _ := w.memory()
	for pod := range born {
		w.Expect(cluster.Delete(w.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: pod}})).To(gomega.Succeed())
		break
	}
	w.Eventually(func() bool {
		uids, _, _ := w.memory()
		return len(uids) == 2 && !maps.Equal(uids, born)
	}).Should(gomega.BeTrue())
	w.Eventually(func() (missing []string) {
		uids, _, _ := w.memory()
		for _, slot := range get(w.world, "cache", &cachev1.Memcached{}).Status.Slots {
			if _, exists := uids[slot.Pod]; !exists {
				missing = append(missing, slot.Name)
			}
		}
		return missing
	}).Should(gomega.BeEmpty(), "slots without a Pod")
	w.have("249Mi of 380Mi", "134217728")
}

// TestAResizeThatIsTakenBackLeavesNothing: only the higher limit stays, because limits are never reduced. A limit
// reserves no memory on the Node.
func TestAResizeThatIsTakenBackLeavesNothing(t *testing.T) {
	w := newSlotWorld(t)
	w.resizable()
	w.acts.Store("cache", act(func(pod *corev1.Pod, _ kubelet.Order) {
		kubelet.RefuseResize(pod, corev1.PodReasonDeferred, "Node didn't have enough memory")
	}))
	w.patchSpec(`{"memory":"64Gi"}`)
	w.reason("cache", cachev1.ReasonResizing)
	w.says("cache", "Deferred")
	w.patchSpec(`{"memory":"64Mi"}`)
	w.served("cache")
	w.have("178Mi of 72574Mi", "67108864")
}

// TestAPodThatShrankGrowsOnlyOnceItsNodeHasRoom: the limit of the Pod is still high enough, but does not mean that the
// Node has room.
func TestAPodThatShrankGrowsOnlyOnceItsNodeHasRoom(t *testing.T) {
	w := newSlotWorld(t)
	w.resizable()
	w.patchSpec(`{"memory":"128Mi"}`)
	w.have("249Mi of 380Mi", "134217728")
	w.patchSpec(`{"memory":"64Mi"}`)
	w.have("184Mi of 380Mi", "67108864")
	w.served("cache")
	w.resized()
	w.acts.Store("cache", act(func(pod *corev1.Pod, _ kubelet.Order) {
		kubelet.RefuseResize(pod, corev1.PodReasonDeferred, "Node didn't have enough memory")
	}))
	w.patchSpec(`{"memory":"120Mi"}`)
	w.says("cache", "Deferred")
	_, _, instructed := w.memory()
	for pod, memory := range instructed {
		if memory != "67108864" {
			t.Errorf("memcached in Pod %s is to have %s bytes", pod, memory)
		}
	}
	w.acts.Store("cache", act(func(pod *corev1.Pod, _ kubelet.Order) {
		kubelet.SetCondition(&pod.Status, corev1.PodResizePending, false, "")
	}))
	w.served("cache")
	w.have("241Mi of 380Mi", "125829120")
}

// TestAnInvalidSpecResizesNothing: neither memcached nor its container.
func TestAnInvalidSpecResizesNothing(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Memory, spec.MaxItemSize = new(resource.MustParse("256Mi")), new(resource.MustParse("64Mi"))
		spec.Rollout = &cachev1.Rollout{MemoryChange: cachev1.MemoryResize}
	})
	w.patchSpec(`{"memory":"16Mi"}`)
	w.reason("cache", cachev1.ReasonInvalidSpec)
	w.Consistently(func() string {
		_, _, instructed := w.memory()
		return strings.Join(slices.Collect(maps.Values(instructed)), "")
	}).WithTimeout(2 * time.Second).Should(gomega.BeEmpty())
}

// TestAnotherChangeResizesNoPodThatItReplaces: a Pod that is replaced anyway keeps the memory that its memcached needs.
func TestAnotherChangeResizesNoPodThatItReplaces(t *testing.T) {
	w := newSlotWorld(t)
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.MaxConnections, spec.Rollout = new(int32(10000)), &cachev1.Rollout{MemoryChange: cachev1.MemoryResize}
	})
	w.patchSpec(`{"memory":"128Mi"}`)
	w.served("cache")
	born, before, _ := w.memory()
	w.copies.Store(false)
	w.patchSpec(`{"maxConnections":64}`)
	w.Eventually(func() int { return len(w.pods("cache")) }).Should(gomega.Equal(3))
	uids, after, _ := w.memory()
	for pod := range born {
		if uids[pod] == born[pod] && after[pod] != before[pod] {
			t.Errorf("Pod %s had %s, and gets %s", pod, before[pod], after[pod])
		}
	}
	w.copies.Store(true)
	w.served("cache")
}

func TestResizingSaysWhatAPodWaitsFor(t *testing.T) {
	w := newSlotWorld(t)
	w.resizable()
	born, _, _ := w.memory()
	refused := func(reason string) {
		w.acts.Store("cache", act(func(pod *corev1.Pod, _ kubelet.Order) {
			kubelet.RefuseResize(pod, reason, "Node didn't have enough resource: memory")
		}))
	}
	refused(corev1.PodReasonDeferred)
	w.patchSpec(`{"memory":"128Mi"}`)
	w.reason("cache", cachev1.ReasonResizing)
	w.says("cache", "2 of 2 Pods are still to be resized; Pod cache-")
	w.says("cache", ": Deferred: Node didn't have enough resource: memory")

	refused(corev1.PodReasonInfeasible) // This Node will never have room; other Nodes may.
	w.Eventually(func() bool {
		uids, _, _ := w.memory()
		for pod := range born {
			if _, exists := uids[pod]; exists {
				return false
			}
		}
		return len(uids) == 2
	}).Should(gomega.BeTrue())
}

// TestWithoutTheRightToResizeSlotsStillWork: only the memory of running Pods does not change, and the status says why.
func TestWithoutTheRightToResizeSlotsStillWork(t *testing.T) {
	w := newSlotWorld(t)
	whole := &rbacv1.ClusterRole{}
	w.Expect(cluster.Get(w.ctx, client.ObjectKey{Name: "memcached-operator-manager-role"}, whole)).To(gomega.Succeed())
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "without-resize"}}
	for _, rule := range whole.Rules {
		rule.Resources = slices.DeleteFunc(rule.Resources, func(resource string) bool { return resource == "pods/resize" })
		if len(rule.Resources) > 0 {
			role.Rules = append(role.Rules, rule)
		}
	}
	w.Expect(cluster.Create(w.ctx, role)).To(gomega.Succeed())
	w.bindOnly(rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}, true)
	w.resizable()
	w.patchSpec(`{"memory":"128Mi"}`)
	w.reason("cache", cachev1.ReasonApplyFailed)
	w.says("cache", `cannot patch resource "pods/resize"`)
	w.have("178Mi of 310Mi", "67108864")
}

// TestPodsWithoutSlotsKeepTheirMemory: they also keep their keys, until the spec says that a change to the memory
// replaces them.
func TestPodsWithoutSlotsKeepTheirMemory(t *testing.T) {
	w := newWorld(t)
	mc := w.create("cache", cachev1.MemcachedSpec{Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize}})
	w.ready(mc.Name)
	template := w.deployment(mc.Name).Spec.Template
	w.patchSpec(`{"memory":"128Mi"}`)
	w.waits("cache", "memory 64Mi -> 128Mi")
	w.patchSpec(`{"size":2}`)
	w.Eventually(func() int32 { return *w.deployment(mc.Name).Spec.Replicas }).Should(gomega.Equal(int32(2)))
	if diff := cmp.Diff(template, w.deployment(mc.Name).Spec.Template); diff != "" {
		t.Errorf("the Pod template (-before +after):\n%s", diff)
	}
	w.patchSpec(`{"rollout":{"memoryChange":"Replace"}}`)
	w.Eventually(func() []string { return w.deployment(mc.Name).Spec.Template.Spec.Containers[0].Args }).
		Should(gomega.ContainElement("--memory-limit=128"))
	w.waits("cache", "")
}
