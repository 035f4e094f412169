//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/slotwatch"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
)

const (
	// drainable is the Node that only this test uses for Pods.
	drainable = "node2"

	// leaves is how long the drain of a Node with three Pods may take. The PodDisruptionBudget allows one eviction at a
	// time, and each evicted Pod serves for 10 more seconds.
	leaves = 2 * time.Minute

	// unwaited is how long Pods whose slots are removed may take to end: 35 seconds in which DNS no longer lists the Pod,
	// and the end of memcached.
	unwaited = time.Minute
)

// TestADrainedNodeKeepsTheKeys begins with all Pods on one Node. kubectl drain moves them to another Node while clients
// write. Then a user deletes a Pod, reduces the size of the cache, and deletes the cache.
func TestADrainedNodeKeepsTheKeys(t *testing.T) {
	c.loaded(t)
	tc := slotsCase{port: 11211, writes: calmWrites}
	tc.spec = cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), Slots: &cachev1.Slots{},
		TerminationDelaySeconds: new(int32(10)), Placement: onDrainable(),
	}
	it := newSlots(t, "drained", tc.spec)
	it.areOn(drainable)
	t.Cleanup(func() {
		_, _ = c.kubectl(context.WithoutCancel(t.Context()), "", "uncordon", drainable).CombinedOutput()
	})
	result := it.judge(tc, func() {
		watch, err := slotwatch.Start(t.Context(), c.Client, it.key.Namespace, it.key.Name)
		it.Expect(err).NotTo(gomega.HaveOccurred())
		began := time.Now()
		it.kubectl("drain", drainable, "--delete-emptydir-data", "--timeout="+leaves.String())
		t.Logf("%s was drained within %s", drainable, time.Since(began).Round(time.Second))
		it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
		it.isServing(cachev1.SlotServing)
		it.areOn("node1")
		it.kubectl("uncordon", drainable) // Other tests may leave too little room for another Pod on node1.

		old := it.slot("drained-1").Pod
		it.kubectl("delete", "pod", old)
		it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
		it.isServing(cachev1.SlotServing)
		it.Expect(it.slot("drained-1").Pod).NotTo(gomega.Equal(old))
		it.drains()
		it.Expect(watch.End()).To(gomega.BeEmpty(), "what clients saw")
	})
	it.keptAll(result)
	it.leavesWithout()
}

// leavesWithout: a Pod whose slot is removed ends without waiting for another Pod to copy its keys.
func (it *cache) leavesWithout() {
	it.t.Helper()
	began := time.Now()
	it.patch(`{"size":2}`)
	it.Eventually(func() int { return len(it.all()) }).WithTimeout(unwaited).Should(gomega.Equal(2))
	it.t.Logf("the Pod of a removed slot left within %s", time.Since(began).Round(time.Second))
	began = time.Now()
	it.kubectl("delete", "memcached", it.key.Name)
	it.Eventually(it.all).WithTimeout(unwaited).Should(gomega.BeEmpty())
	it.t.Logf("the Pods of a deleted cache left within %s", time.Since(began).Round(time.Second))
}

// onDrainable makes the Pods prefer the Node drainable, without requiring it.
func onDrainable() *cachev1.Placement {
	return &cachev1.Placement{
		Tolerations: []corev1.Toleration{{Key: supervisor.SecondNodeTaint, Operator: corev1.TolerationOpExists}},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 100,
				Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{drainable},
				}}},
			}},
		}},
	}
}

// areOn asserts that all Pods that are not being deleted are on this Node.
func (it *cache) areOn(node string) {
	it.t.Helper()
	var found []string
	for _, pod := range it.all() {
		if pod.DeletionTimestamp.IsZero() {
			found = append(found, pod.Spec.NodeName)
		}
	}
	it.Expect(found).To(gomega.And(gomega.HaveLen(3), gomega.HaveEach(node)), fmt.Sprint("all Pods are on ", node))
}

// all are the Pods of the cache, including those that are being deleted.
func (it *cache) all() []corev1.Pod {
	it.t.Helper()
	pods := &corev1.PodList{}
	it.Expect(c.Client.List(it.t.Context(), pods,
		client.InNamespace(it.key.Namespace), client.MatchingLabels{"memcached_cr": it.key.Name})).To(gomega.Succeed())
	return pods.Items
}
