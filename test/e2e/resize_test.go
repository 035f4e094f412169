//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestMemoryChangesWithoutARestart grows and shrinks the Pods of a cache while a client uses it.
func TestMemoryChangesWithoutARestart(t *testing.T) {
	c.shared(t)
	it := newSlots(t, "resized", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), Slots: &cachev1.Slots{}, TerminationDelaySeconds: new(int32(1)),
		Rollout: &cachev1.Rollout{MemoryChange: cachev1.MemoryResize},
	})
	it.lets("set", "") // 50 keys
	born := it.pods()
	for _, mebibytes := range []int{128, 32, 64} {
		began := time.Now()
		it.patch(fmt.Sprintf(`{"memory":"%dMi"}`, mebibytes))
		it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
		t.Logf("%d MiB after %s", mebibytes, time.Since(began).Round(time.Millisecond))
		it.Eventually(func(g gomega.Gomega) {
			for pod := range it.pods() {
				g.Expect(it.metricsOf(pod).value("memcached_limit_bytes")).To(gomega.BeEquivalentTo(mebibytes << 20))
			}
		}).Should(gomega.Succeed())
		it.Expect(it.pods()).To(gomega.Equal(born), "no Pod is replaced")
	}
	for _, pod := range it.all() {
		for _, status := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
			it.Expect(status.RestartCount).To(gomega.BeZero(), "%s of Pod %s", status.Name, pod.Name)
		}
		it.Expect(pod.Status.Phase).To(gomega.Equal(corev1.PodRunning))
	}
	it.lets("get", "")
}
