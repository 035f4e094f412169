//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestScalingKeepsTheKeys adds a slot and removes it again. In the meantime, clients write, read and delete keys,
// choose slots by a hash, and learn the new list of slots at different times. Before that, the size changes several
// times in quick succession, as by an autoscaler.
func TestScalingKeepsTheKeys(t *testing.T) {
	c.loaded(t)
	tc := slotsCase{port: 11211, writes: calmWrites}
	tc.spec = cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), TerminationDelaySeconds: new(int32(10)),
		Slots: &cachev1.Slots{ClientHash: cachev1.HashRendezvous, ScaleOverlapSeconds: new(int32(20))},
	}
	tc.hash = string(cachev1.HashRendezvous)
	it := newSlots(t, "slots-scaled", tc.spec)
	slots := func() int { return len(it.get().Status.Slots) }
	result := it.judge(tc, func() {
		for range 5 {
			it.patch(`{"size":5}`)
			it.patch(`{"size":3}`)
		}
		it.Consistently(slots).WithTimeout(3 * time.Second).Should(gomega.Equal(3))
		it.patch(`{"size":4}`)
		it.Eventually(slots).WithTimeout(2 * time.Minute).Should(gomega.Equal(4))
		it.says(cachev1.ReasonAllPodsReady, "4 of 4 Pods ready")
		it.Expect(it.get().Status.Slots[3].State).To(gomega.Equal(cachev1.SlotServing))
		it.patch(`{"size":3}`)
		it.Eventually(slots).WithTimeout(3 * time.Minute).Should(gomega.Equal(3))
		it.drains()
		it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	})
	reads, misses := 0, 0
	for _, second := range result.Seconds {
		reads, misses = reads+second.Reads, misses+second.Misses
	}
	it.t.Logf("%d of %d reads of keys that nobody wrote missed", misses, reads)
	it.Expect(100*misses).To(gomega.BeNumerically("<=", reads), "the hit ratio dips by at most one point")
	it.keptAll(result)
}
