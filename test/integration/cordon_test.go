package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestACordonedNodeIsEmptiedWithoutLosingKeys has three caches, because two of them wait for the shortest timeout.
func TestACordonedNodeIsEmptiedWithoutLosingKeys(t *testing.T) {
	w := newCordonWorld(t)
	const moves, hangs, full = "moves", "hangs", "full"
	w.hangs, w.full = hangs, full
	before := map[string]map[string]string{}
	for name, timeout := range map[string]int32{moves: 600, hangs: 10, full: 10} {
		w.rested(name, timeout)
	}
	for _, name := range []string{moves, hangs, full} {
		w.served(name)
		before[name] = w.holders(name)
		w.evictionsAreRefused(name, before[name][name+"-0"])
	}
	w.copies.Store(false)
	for name, holders := range before {
		w.cordon(holders[name+"-0"])
	}
	w.slotMoves(moves, before[moves])
	w.slotStartsCold(hangs, before[hangs])
	w.evictionIsAllowed(full, before[full])
}

// evictionsAreRefused waits until the PodDisruptionBudget refuses the eviction of a Pod.
func (w *cordonWorld) evictionsAreRefused(name, pod string) {
	w.t.Helper()
	eventually(w.world, name, &policyv1.PodDisruptionBudget{}, func(budget *policyv1.PodDisruptionBudget) bool {
		return budget.Spec.MaxUnavailable.IntValue() == 0 && budget.Status.ObservedGeneration == budget.Generation
	})
	w.Expect(apierrors.IsTooManyRequests(w.evict(pod))).To(gomega.BeTrue(), "evicted: %s", pod)
}

// slotMoves is the rule: a Pod more copies the keys, takes the slot, and the Pod on the cordoned Node is deleted.
func (w *cordonWorld) slotMoves(name string, before map[string]string) {
	w.t.Helper()
	old := before[name+"-0"]
	eventually(w.world, name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		return len(mc.Status.Slots) == 2 && mc.Status.Slots[0].State == cachev1.SlotCopying
	})
	w.Expect(*w.deployment(name).Spec.Replicas).To(gomega.Equal(int32(3)))
	w.Expect(w.pods(name)).To(gomega.HaveLen(3))
	w.evictionsAreRefused(name, old)
	if diff := cmp.Diff(before, w.holders(name)); diff != "" {
		w.t.Errorf("a slot moved before its keys were copied (-before +now):\n%s", diff)
	}
	w.copies.Store(true)
	w.isDeleted(old)
	w.served(name)
	eventually(w.world, name, &appsv1.Deployment{}, func(deployment *appsv1.Deployment) bool {
		return *deployment.Spec.Replicas == 2 && deployment.Status.Replicas == 2
	})
	after := w.holders(name)
	if after[name+"-1"] != before[name+"-1"] || after[name+"-0"] == old {
		w.t.Errorf("Pods by slot: %v before, and %v after", before, after)
	}
	w.Expect(w.pods(name)).To(gomega.HaveLen(2))
	w.Expect(w.allowed(name)).To(gomega.Equal(0))
	w.Expect(w.deployment(name).Generation).To(gomega.Equal(int64(3)), "created, one Pod more, and one less")
}

// slotStartsCold is a copy that never ends: after the timeout the slot moves without keys.
func (w *cordonWorld) slotStartsCold(name string, before map[string]string) {
	w.t.Helper()
	w.isDeleted(before[name+"-0"])
	mc := eventually(w.world, name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		return len(mc.Status.Slots) == 2 && mc.Status.Slots[0].State == cachev1.SlotCold
	})
	w.Expect(mc.Status.Slots[0].Reason).To(gomega.Equal("HandoffTimedOut"))
	w.Expect(w.holders(name)).To(gomega.HaveKeyWithValue(name+"-1", before[name+"-1"]))
}

// evictionIsAllowed is a Pod more that no Node has room for: after the timeout a drain continues.
func (w *cordonWorld) evictionIsAllowed(name string, before map[string]string) {
	w.t.Helper()
	w.Eventually(func() int { return w.allowed(name) }).Should(gomega.Equal(1))
	w.Eventually(func() error { return w.evict(before[name+"-0"]) }).Should(gomega.Succeed())
	w.isDeleted(before[name+"-0"])
	w.Expect(w.holders(name)).To(gomega.HaveKeyWithValue(name+"-1", before[name+"-1"]))
}

func (w *cordonWorld) isDeleted(pod string) {
	w.t.Helper()
	w.Eventually(func() bool {
		key := client.ObjectKey{Namespace: w.namespace, Name: pod}
		return apierrors.IsNotFound(cluster.Get(w.ctx, key, &corev1.Pod{}))
	}).Should(gomega.BeTrue(), pod)
}
