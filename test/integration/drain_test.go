package integration

import (
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// drainers close a Node in different ways, and then request evictions until the Node is empty.
var drainers = map[string]string{
	"kubectl drain":          "", // It cordons the Node.
	"the cluster autoscaler": "ToBeDeletedByClusterAutoscaler",
	"Karpenter":              "karpenter.sh/disrupted",
}

// TestEvictionsEmptyANodeAndKeepTheKeys: Pods are evicted one at a time. The PodDisruptionBudget refuses the next
// eviction until another Pod is ready with the slot of the last evicted one.
func TestEvictionsEmptyANodeAndKeepTheKeys(t *testing.T) {
	for name, taint := range drainers {
		t.Run(name, func(t *testing.T) {
			w := newDrainWorld(t)
			first, second := w.rested("cache", 600)
			before := w.holders("cache")
			w.budgetAllows("cache", 1)
			w.copies.Store(false)
			w.closes(first, taint)
			w.Expect(w.evict(before["cache-0"])).To(gomega.Succeed())
			w.stateOf("cache", 0, cachev1.SlotCopying, "")
			w.budgetAllows("cache", 0)
			w.Expect(w.evict(before["cache-1"])).NotTo(gomega.Succeed(), "before the slot of the first is served by another Pod")
			w.Expect(w.holders("cache")).To(gomega.Equal(before), "before the keys are copied")

			w.copies.Store(true)
			w.evicts("cache", first)
			w.served("cache")
			after := w.holders("cache")
			for slot, pod := range before {
				w.Expect(after[slot]).NotTo(gomega.BeElementOf("", pod), slot)
				w.Expect(get(w.world, after[slot], &corev1.Pod{}).Spec.NodeName).To(gomega.Equal(second.Name))
			}
			w.Expect(w.pods("cache")).To(gomega.HaveLen(2))
			w.Expect(w.deployment("cache").Generation).To(gomega.Equal(int64(1)), "no Pod more than slots")
			w.Eventually(w.handoffs).Should(gomega.Equal(map[string]float64{`{reason="",result="kept"}`: 2}))
			w.budgetAllows("cache", 1)
		})
	}
}

// TestACordonAloneMovesNothing: only evictions move Pods.
func TestACordonAloneMovesNothing(t *testing.T) {
	w := newDrainWorld(t)
	first, _ := w.rested("cache", 600)
	before := w.holders("cache")
	w.closes(first, "")
	w.quiet()
	w.Expect(w.holders("cache")).To(gomega.Equal(before))
	w.Expect(w.pods("cache")).To(gomega.HaveLen(2))
	w.budgetAllows("cache", 1)
}

// TestANodeIsNeverBlockedForLongerThanAHandoffMayTake drains a Node in two cases: a copy never ends, and no other Node
// has room for a Pod.
func TestANodeIsNeverBlockedForLongerThanAHandoffMayTake(t *testing.T) {
	tests := map[string]struct {
		copies, room bool
		reasons      []string
	}{
		// The copy times out when the Pod ends, so the status may have either reason.
		"a copy hangs":                 {copies: false, room: true, reasons: []string{"HandoffTimedOut", "PodLost"}},
		"there is no room for another": {copies: true, room: false, reasons: []string{"PodLost"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newDrainWorld(t)
			first, second := w.rested("cache", 10)
			old := w.holders("cache")["cache-0"]
			w.copies.Store(tc.copies)
			w.closes(first, "")
			if !tc.room {
				w.closes(second, "example.com/full")
			}
			w.budgetAllows("cache", 1)
			w.Expect(w.evict(old)).To(gomega.Succeed())
			w.Eventually(func() bool { return w.isDeleted(old) }).Should(gomega.BeTrue())
			if !tc.room {
				w.addNode("cache", "-c")
			}
			w.stateOf("cache", 0, cachev1.SlotCold, tc.reasons...)
		})
	}
}

// stateOf waits until the slot has this state and one of the reasons in the status, and has a Pod.
func (w *drainWorld) stateOf(name string, slot int, state cachev1.SlotState, reasons ...string) {
	w.t.Helper()
	mc := eventually(w.world, name, &cachev1.Memcached{}, func(mc *cachev1.Memcached) bool {
		return len(mc.Status.Slots) > slot && mc.Status.Slots[slot].State == state && mc.Status.Slots[slot].Pod != ""
	})
	w.Expect(reasons).To(gomega.ContainElement(mc.Status.Slots[slot].Reason))
}

// budgetAllows waits until the PodDisruptionBudget of a cache allows this number of evictions.
func (w *drainWorld) budgetAllows(name string, evictions int) {
	w.t.Helper()
	budget := eventually(w.world, name, &policyv1.PodDisruptionBudget{}, func(budget *policyv1.PodDisruptionBudget) bool {
		return int(budget.Status.DisruptionsAllowed) == evictions && budget.Status.ObservedGeneration == budget.Generation
	})
	w.Expect(budget.Spec.MaxUnavailable.IntValue()).To(gomega.Equal(1), "with slots as without")
}
