//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	"github.com/example-inc/memcached-operator/internal/testing/judging"
	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// kept is the share of the untouched keys that must still exist after each Pod was replaced twice.
const kept = 0.995

// slotsCase is a cache and how its clients use it.
type slotsCase struct {
	spec   cachev1.MemcachedSpec
	port   int
	flags  string // flags of the clients
	hash   string // how the clients choose a slot
	writes int    // writes per second
}

// staleBound is for how long after a write clients may read an older value. Agents request little CPU, so they are late
// while dozens of Pods share two processors. make bench, on a quiet machine, allows only a tenth of this time.
const staleBound = 1000 * time.Millisecond

// untouchedKeys is the number of keys that are stored once, and never written again.
const untouchedKeys = 10000

// slotWrites is how many keys clients write a second. A larger number than the default, such as -args -slot-writes
// 20000, needs a machine without other work.
var slotWrites = flag.Int("slot-writes", 2000, "writes per second while each Pod with a slot is replaced twice")

// calmWrites is how many keys clients write a second if several tests run at a time. The number is large enough to find
// errors, and small enough for several tests at a time.
const calmWrites = 500

// TestReplacedPodsKeepTheirKeys replaces each of three Pods twice, while clients write, read and delete keys. Each
// client renews its connections at its own times.
func TestReplacedPodsKeepTheirKeys(t *testing.T) {
	c.loaded(t)
	tests := map[string]slotsCase{
		"slots-plain": {port: 11211, writes: *slotWrites},
		"slots-tls-users": {
			spec: cachev1.MemcachedSpec{
				TLS:  &cachev1.TLS{SecretName: serverSecret},
				Auth: &cachev1.Auth{SecretName: usersSecret},
			},
			port: 11212, writes: calmWrites, flags: trusting + login + "password",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.spec.TLS != nil {
				soak.Only(t, "the tests of the agent move keys in every mode")
			}
			tc.spec.Image = newMemcached(t)
			tc.spec.Slots = &cachev1.Slots{}
			tc.spec.Size = new(int32(3))
			tc.spec.TerminationDelaySeconds = new(int32(10))
			it := newSlots(t, name, tc.spec)
			result := it.judge(tc, func() {
				for _, memory := range []string{"96Mi", "64Mi"} {
					before := it.pods()
					it.patch(`{"memory":"` + memory + `"}`)
					it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
					for pod := range before {
						it.Expect(it.pods()).NotTo(gomega.HaveKey(pod), "each Pod is replaced")
					}
					it.isServing("Serving")
				}
				it.drains()
			})
			it.keptAll(result)
			it.Expect(result.Writes).To(gomega.BeNumerically(">", 10000))
		})
	}
}

// TestASecondChangeInTheMiddleKeepsTheKeys changes the spec again as soon as one slot has moved to its new Pod, while
// clients still use the old Pod.
func TestASecondChangeInTheMiddleKeepsTheKeys(t *testing.T) {
	c.loaded(t)
	for name, second := range map[string]string{
		"slots-undo":  `{"memory":"64Mi"}`,
		"slots-other": `{"memory":"80Mi"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "slots-other" {
				soak.Only(t, "slots-undo")
			}
			tc := slotsCase{port: 11211, writes: calmWrites}
			tc.spec = cachev1.MemcachedSpec{
				Image: newMemcached(t), Size: new(int32(3)), Slots: &cachev1.Slots{},
				TerminationDelaySeconds: new(int32(10)),
			}
			it := newSlots(t, name, tc.spec)
			result := it.judge(tc, func() {
				holder := func() string { return it.get().Status.Slots[0].Pod }
				before := holder()
				it.patch(`{"memory":"96Mi"}`)
				it.Eventually(holder).WithTimeout(2 * time.Minute).ShouldNot(gomega.Equal(before))
				it.patch(second)
				it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
				it.isServing("Serving")
				it.drains()
			})
			it.keptAll(result)
		})
	}
}

// keptAll makes sure that no client noticed a rollout.
func (it *cache) keptAll(result judging.Result) {
	it.t.Helper()
	it.t.Logf("%d writes a second", result.Writes/max(1, len(result.Seconds)))
	result.Seconds = nil
	it.t.Logf("%+v", result)
	it.Expect([]int{result.Outdated, result.Errors}).
		To(gomega.Equal([]int{0, 0}), "keys with outdated values, errors: %v", result.Failures)
	it.Expect(float64(result.Kept)).To(gomega.BeNumerically(">=", kept*float64(result.Untouched)))
}

// newMemcached returns an image of memcached that is new enough for slots. The memcached of this distribution may be
// too old. All tests use the same image.
func newMemcached(t *testing.T) string {
	t.Helper()
	c.fetched.Do(func() { c.newest, c.unfetched = c.PushMemcached(t.Context(), debian.SuiteForSlots) })
	if c.unfetched != nil {
		t.Fatal(c.unfetched)
	}
	return c.newest
}

// newSlots makes a cache with slots, and with the Secrets that it and its clients may name.
func newSlots(t *testing.T, name string, spec cachev1.MemcachedSpec) *cache {
	t.Helper()
	return newSlotsBy(t, certificates.NewAuthority(t, name), name, spec)
}

func newSlotsBy(t *testing.T, ca *pki.Authority, name string, spec cachev1.MemcachedSpec) *cache {
	t.Helper()
	it := newCache(t, name, spec)
	putSlotsCertificate(t, name, ca)
	putSecret(t, name, usersSecret, map[string][]byte{"username": []byte("app"), "password": []byte("secret")})
	putClients(t, name, ca, map[string]string{"password": "secret"})
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	return it
}

// putSlotsCertificate makes a new certificate for all names of a cache with slots.
func putSlotsCertificate(t *testing.T, name string, ca *pki.Authority) pki.Pair {
	t.Helper()
	server := certificates.Issue(t, ca, name+"."+name+".svc", "*."+name+"-slots."+name+".svc", name+"-slots."+name+".svc")
	putSecret(t, name, serverSecret, map[string][]byte{
		corev1.TLSCertKey: server.Cert, corev1.TLSPrivateKeyKey: server.Key, "ca.crt": ca.Cert,
	})
	return server
}

// judge runs the judging client while during runs, and returns what the client found.
func (it *cache) judge(tc slotsCase, during func()) judging.Result {
	it.t.Helper()
	config, err := c.Cluster.RESTConfig()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	judge := judging.Judge{
		Clients: clientpod.Clients{
			Kube: c.Client, Config: config, Namespace: it.key.Namespace, Image: c.images.Client,
			Secret: clientsSecret, Timeout: longest,
		},
		Cache: it.key.Name, Port: tc.port, Keys: untouchedKeys, Writes: tc.writes, Flags: tc.flags,
		Arguments: fmt.Sprintf("--read-every=%d --hash=%s --stale-bound=%s",
			6*max(1, tc.writes/2000), tc.hash, staleBound), // It reads as many keys as it writes, up to 2,000 a second.
	}
	result, err := judge.Run(it.t.Context(), func() error {
		during()
		return nil
	})
	it.Expect(err).NotTo(gomega.HaveOccurred())
	return result
}

// isServing waits until each slot has this state.
func (it *cache) isServing(state cachev1.SlotState) {
	it.t.Helper()
	it.Eventually(func() (states []cachev1.SlotState) {
		for _, slot := range it.get().Status.Slots {
			states = append(states, slot.State)
		}
		return states
	}).Should(gomega.And(gomega.HaveLen(3), gomega.HaveEach(state)))
}

// drains waits until no Pod of the cache is terminating.
func (it *cache) drains() {
	it.t.Helper()
	it.Eventually(it.all).WithTimeout(2 * time.Minute).Should(gomega.HaveLen(3))
}
