package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// resizable is a cache of 64Mi whose Pods are resized.
func (w *slotWorld) resizable() {
	w.t.Helper()
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(spec *cachev1.MemcachedSpec) {
		spec.Rollout = &cachev1.Rollout{MemoryChange: cachev1.MemoryResize}
	})
}

// memory is what the Pods of the cache have, by name: the limit of the container, and what the agent is instructed to
// give memcached.
func (w *slotWorld) memory() (uids map[string]types.UID, limits, instructed map[string]string) {
	w.t.Helper()
	uids, limits, instructed = map[string]types.UID{}, map[string]string{}, map[string]string{}
	pods := &corev1.PodList{}
	w.Expect(cluster.List(w.ctx, pods, client.InNamespace(w.namespace))).To(gomega.Succeed())
	for _, pod := range pods.Items {
		uids[pod.Name], limits[pod.Name] = pod.UID, pod.Spec.Containers[0].Resources.Limits.Memory().String()
		_, memory, _ := strings.Cut(pod.Annotations["cache.example.com/handoff"], `"memory":`)
		instructed[pod.Name], _, _ = strings.Cut(memory, ",")
	}
	return uids, limits, instructed
}

func TestMemoryChangesInTheRunningPods(t *testing.T) {
	w := newSlotWorld(t)
	w.resizable()
	born, _, _ := w.memory()
	for _, step := range []struct{ memory, limit, instructed string }{
		{"128Mi", "380Mi", "134217728"},
		{"64Mi", "316Mi", "67108864"}, // with the hash table of 128Mi
		{"32Mi", "283Mi", "33554432"},
	} {
		w.patchSpec(`{"memory":"` + step.memory + `"}`)
		w.served("cache")
		uids, limits, instructed := w.memory()
		if diff := cmp.Diff(born, uids); diff != "" {
			t.Errorf("%s: Pods (-before +after):\n%s", step.memory, diff)
		}
		for pod := range born {
			if limits[pod] != step.limit || instructed[pod] != step.instructed {
				t.Errorf("%s: Pod %s has the limit %s and the memory %s, want %s and %s", step.memory, pod, limits[pod],
					instructed[pod], step.limit, step.instructed)
			}
		}
	}
	w.restartsAtRest()
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

	refused(corev1.PodReasonInfeasible) // The Node never will: other Pods, on other Nodes, may.
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
