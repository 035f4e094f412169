//go:build e2e

package e2e

import (
	"cmp"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	"github.com/example-inc/memcached-operator/internal/testing/clients"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

var updateClients = flag.Bool("update-clients", false, "write what clients saw into docs/clients.md")

// TestClientsOfOtherProjects makes client libraries of six languages read keys, each with the options of
// docs/clients.md and over one connection to each Pod. During this, Pods are replaced, added, removed, evicted and
// killed, and certificates are rotated. The test proves what docs/clients.md says about the libraries. The test must
// run alone in the cluster and takes minutes, and other tests prove what the operator does for clients. So make e2e
// leaves this test to make soak, unless ARGS has -run. With -short, the test only replaces Pods and rotates
// certificates. It then leaves out the clients of Thanos, Loki and Mimir, which take minutes to build.
func TestClientsOfOtherProjects(t *testing.T) {
	c.exclusive(t)
	images := c.pushClients(t)
	var saw clients.Results
	t.Run("caches", func(t *testing.T) {
		t.Run("plain", func(t *testing.T) {
			t.Parallel()
			saw.Add(changes(t, images, "", cachev1.MemcachedSpec{
				Slots: &cachev1.Slots{Mode: cachev1.SlotsClusterIP}, TerminationDelaySeconds: new(int32(5)),
			}))
		})
		if !testing.Short() {
			t.Run(clients.OfRecipes, func(t *testing.T) {
				t.Parallel()
				// Two of these clients resolve names only every 10 s, so the cache has the default terminationDelaySeconds.
				saw.Add(changes(t, images, clients.OfRecipes, cachev1.MemcachedSpec{
					Slots: &cachev1.Slots{Mode: cachev1.SlotsClusterIP},
				}))
			})
		}
		t.Run(clients.Discovers, func(t *testing.T) {
			t.Parallel()
			saw.Add(changes(t, images, clients.Discovers, cachev1.MemcachedSpec{
				Slots: &cachev1.Slots{}, TerminationDelaySeconds: new(int32(5)), Discovery: &cachev1.Discovery{},
			}))
		})
		for _, name := range []string{clients.WithTLS, clients.WithLogin} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				saw.Add(rotates(t, images, name))
			})
		}
	})
	table := saw.Table(time.Now())
	t.Logf("\n%s", table)
	if *updateClients && !t.Failed() {
		if err := clients.Write(filepath.Join(c.Root, "docs/clients.md"), table); err != nil {
			t.Fatal(err)
		}
	}
}

// changes makes clients read while Pods are replaced and, without -short, evicted, added, removed and killed.
func changes(t *testing.T, images clientImages, of string, spec cachev1.MemcachedSpec) []clients.Result {
	t.Helper()
	name := cmp.Or(of, "clients")
	spec.Image, spec.Size = newMemcached(t), new(int32(3))
	it := newSlots(t, name, spec)
	l := it.startLoads(images, clients.Of(of))
	l.phase(clients.Rollout, it.rollsOut)
	if testing.Short() {
		return l.results()
	}
	l.phase(clients.Evicted, func() { it.loses(it.slot(name+"-1").Pod, it.evicts) })
	l.phase(clients.ScaledUp, func() { it.patch(`{"size":4}`); it.settles(4) })
	l.phase(clients.ScaledDown, func() { it.patch(`{"size":3}`); it.settles(3) })
	l.phase(clients.Killed, func() { it.loses(it.slot(name+"-2").Pod, it.forces) })
	return l.results()
}

// rotates changes the certificate while clients keep their connections, and then replaces the Pods, so that the clients
// connect again, with the new certificate.
func rotates(t *testing.T, images clientImages, name string) []clients.Result {
	t.Helper()
	spec := cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), Slots: &cachev1.Slots{}, TLS: &cachev1.TLS{SecretName: serverSecret},
		TerminationDelaySeconds: new(int32(5)),
	}
	if name == clients.WithLogin {
		spec.Auth = &cachev1.Auth{SecretName: usersSecret}
	}
	ca := certificates.NewAuthority(t, name)
	it := newSlotsBy(t, ca, name, spec)
	l := it.startLoads(images, clients.Of(name))
	l.phase(clients.Rotated, func() {
		end := endOf(t, putSlotsCertificate(t, name, ca))
		it.Eventually(func(g gomega.Gomega) {
			for pod := range it.pods() {
				g.Expect(it.metricsOf(pod).value("memcached_certificate_not_after_timestamp_seconds")).To(gomega.Equal(end))
			}
		}).WithTimeout(rotated).Should(gomega.Succeed())
	})
	l.phase(clients.Rollout, it.rollsOut)
	return l.results()
}

func (it *cache) rollsOut() {
	it.t.Helper()
	before := it.pods()
	it.patch(`{"memory":"96Mi"}`)
	it.replaces(before)
	it.settles(3)
}
