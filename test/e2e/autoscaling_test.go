//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestTheMemoryGrowsWithTheUse stores more keys than a cache has room for, again and again, so that memcached evicts
// keys that were stored only seconds before. The recommendations themselves are tested in operator/internal/autoscale
// and operator/internal/usage.
func TestTheMemoryGrowsWithTheUse(t *testing.T) {
	soak.Only(t, "integration tests play what agents report, and those of the agent have a real memcached")
	c.shared(t)
	it := newCache(t, "follows", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(1)), Slots: &cachev1.Slots{}, TerminationDelaySeconds: new(int32(1)),
		Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize},
		Autoscaling: &cachev1.Autoscaling{Memory: &cachev1.MemoryAutoscaling{
			Mode: cachev1.AutoscalingAct, Max: resource.MustParse("256Mi"), EvictionAgeSeconds: 600, CooldownSeconds: 60,
		}, Size: &cachev1.SizeAutoscaling{Max: 3, EvictionAgeSeconds: 60}},
	})
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	pod, born := it.all()[0], it.pods()
	const mib = 1 << 20
	limit := func() float64 { return it.metricsOf(pod.Name).value("memcached_limit_bytes") }
	it.Expect(limit()).To(gomega.BeEquivalentTo(64 * mib))
	it.Eventually(func() float64 {
		it.stores(&pod, 100_000) // keys of 1 KiB
		return limit()
	}).WithTimeout(5 * time.Minute).WithPolling(5 * time.Second).Should(gomega.BeNumerically(">=", 80*mib))
	mc := it.get()
	it.Expect(mc.Status.Autoscaling.Memory.Current.Value()).To(gomega.BeNumerically(">=", 80*mib))
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	it.Expect(it.pods()).To(gomega.Equal(born), "no Pod is replaced")
	it.Eventually(func() *int32 {
		it.stores(&pod, 100_000)
		return it.get().Status.Autoscaling.Size.Recommended
	}).WithTimeout(6*time.Minute).WithPolling(5*time.Second).
		ShouldNot(gomega.BeNil(), "after two minutes with the same memory, it is known how many Pods would do")
}
