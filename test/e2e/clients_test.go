//go:build e2e

package e2e

import (
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/clients"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// TestClientsOfOtherProjects has libraries of six languages read keys, each with the options of docs/clients.md and over
// one connection to each Pod, while Pods are replaced, added, removed, evicted and killed.
func TestClientsOfOtherProjects(t *testing.T) {
	c.loaded(t)
	image := c.pushClients(t)
	it := newCache(t, "clients", cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), Slots: &cachev1.Slots{Mode: cachev1.SlotsClusterIP},
		TerminationDelaySeconds: new(int32(5)), Resources: little(),
	})
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	l := it.startLoads(image, clients.All)
	l.phase("rollout", func() {
		before := it.pods()
		it.patch(`{"memory":"96Mi"}`)
		it.replaces(before)
		it.settles(3)
	})
	l.phase("evicted", func() { it.loses(it.slot("clients-1").Pod, it.evicts) })
	l.phase("scale up", func() { it.patch(`{"size":4}`); it.settles(4) })
	l.phase("scale down", func() { it.patch(`{"size":3}`); it.settles(3) })
	l.phase("killed", func() { it.loses(it.slot("clients-2").Pod, it.forces) })
}
