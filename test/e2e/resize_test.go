//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestMemoryChangesWithoutARestart grows the Pods of a cache, fills one of them, and shrinks them again, while clients
// use them. A test in operator/internal/agent/resize checks that the hottest keys stay.
func TestMemoryChangesWithoutARestart(t *testing.T) {
	c.loaded(t)
	it := newSlots(t, "resized", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), Slots: &cachev1.Slots{}, TerminationDelaySeconds: new(int32(1)),
		Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize},
	})
	born, full := it.pods(), it.all()[0]
	result := it.judge(slotsCase{port: 11211, writes: calmWrites}, func() {
		it.resizes(96)
		it.resizes(512)
		it.stores(&full, 400_000) // of 1 KiB
		it.Expect(it.metricsOf(full.Name).value("memcached_items_evicted_total")).To(gomega.BeZero())
		it.resizes(256)
		it.resizes(64)
		it.Expect(it.metricsOf(full.Name).value("memcached_current_items")).To(gomega.BeNumerically(">", 40_000))
	})
	it.Expect([]int{result.Outdated, result.Errors}).To(gomega.Equal([]int{0, 0}), "%v", result.Failures)
	it.Expect(result.Kept).To(gomega.BeNumerically(">", result.Untouched/2), "in the Pods that are not full")
	it.Expect(it.pods()).To(gomega.Equal(born), "no Pod is replaced")
	for _, pod := range it.all() {
		for _, status := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
			it.Expect(status.RestartCount).To(gomega.BeZero(), "%s of Pod %s", status.Name, pod.Name)
		}
	}
}

// resizes changes the memory, and waits until each memcached and its container have the new limits.
func (it *cache) resizes(mebibytes int) {
	it.t.Helper()
	began := time.Now()
	it.patch(fmt.Sprintf(`{"memory":"%dMi"}`, mebibytes))
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	it.Eventually(func(g gomega.Gomega) {
		for pod := range it.pods() {
			g.Expect(it.metricsOf(pod).value("memcached_limit_bytes")).To(gomega.BeEquivalentTo(mebibytes << 20))
		}
	}).Should(gomega.Succeed())
	it.t.Logf("%d MiB after %s", mebibytes, time.Since(began).Round(time.Millisecond))
}

// TestAPodThatWasResizedHandsOverToOneThatIsToo: a new Pod starts with the memory of the Deployment's Pod template,
// which is too small for the keys, so it must be resized before it copies them.
func TestAPodThatWasResizedHandsOverToOneThatIsToo(t *testing.T) {
	soak.Only(t, "integration tests play the kubelet that resizes")
	c.shared(t)
	const keys = 100_000 // of 1 KiB
	it := newCache(t, "resized-later", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(1)), Slots: &cachev1.Slots{}, TerminationDelaySeconds: new(int32(1)),
		Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize},
	})
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	it.patch(`{"memory":"192Mi"}`)
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	old := it.all()[0]
	it.Eventually(func() float64 { return it.metricsOf(old.Name).value("memcached_limit_bytes") }).Should(gomega.BeEquivalentTo(192 << 20))
	it.stores(&old, keys)
	it.Expect(c.Client.Delete(t.Context(), &old)).To(gomega.Succeed())
	it.Eventually(func(g gomega.Gomega) {
		pods := it.all()
		g.Expect(pods).To(gomega.HaveLen(1))
		g.Expect(pods[0].UID).NotTo(gomega.Equal(old.UID))
		g.Expect(it.metricsOf(pods[0].Name).value("memcached_current_items")).To(gomega.BeEquivalentTo(keys))
	}).WithTimeout(3 * time.Minute).Should(gomega.Succeed())
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
}
