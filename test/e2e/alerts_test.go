//go:build e2e

package e2e

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// hurry is the factor by which the periods in the rules are shortened: 5 minutes become 10 seconds, in which Prometheus
// scrapes five times.
const hurry = 30

// fault is something that goes wrong with a cache of one Pod, and the alerts that must fire. No other alert may fire
// for this cache.
type fault struct {
	spec   cachev1.MemcachedSpec
	begin  func(it *cache)
	alerts []string
}

// TestFaultsOfCachesFireTheirAlerts creates a cache for each fault and one without a fault, and runs a real Prometheus
// with the rules of the installation. Each alert must fire for the caches with its fault, and must not fire for any
// other. A late scrape on a busy machine fires alerts, too, so only make soak runs this test.
func TestFaultsOfCachesFireTheirAlerts(t *testing.T) {
	c.shared(t)
	const name = "alerts"
	healthy := newCache(t, name, cachev1.MemcachedSpec{Memory: new(resource.MustParse("16Mi"))})
	putFaultySecrets(t, name)
	caches, want := map[string]*cache{}, []string{}
	for fault, tc := range faultsOfCaches() {
		tc.spec.Memory, tc.spec.Resources = new(resource.MustParse("16Mi")), little()
		caches[fault] = secured(t, name, fault, tc.spec)
		for _, alert := range tc.alerts {
			want = append(want, alert+" "+fault)
		}
	}
	for _, it := range append(slices.Collect(maps.Values(caches)), healthy) {
		it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	}
	server := healthy.scraped(hurriedRules(t))
	healthy.Eventually(func() int { return len(healthy.query(server, "memcached_up == 1")) }).
		Should(gomega.Equal(len(caches)+1), "each agent has its connection, including in the cache whose clients are "+
			"about to use all connections")
	key := caches["misses"].reads("hot")
	for fault, tc := range faultsOfCaches() {
		if tc.begin != nil {
			tc.begin(caches[fault])
		}
	}
	healthy.Eventually(func() int {
		return len(healthy.query(server, `memcached:hit_ratio:median1d{memcached="misses"} > 0.9`))
	}).WithTimeout(2*patience).Should(gomega.Equal(1), "the usual hit ratio is known")
	key.Store("cold")

	slices.Sort(want)
	healthy.Eventually(func() []string { return healthy.fired(server, `memcached!=""`, "memcached") }).
		WithTimeout(2 * patience).Should(gomega.Equal(want))
}

// faultsOfCaches are the faults, by the name of the cache.
func faultsOfCaches() map[string]fault {
	tls := func(secret string) *cachev1.TLS { return &cachev1.TLS{SecretName: secret} }
	few := new(int32(16))
	return map[string]fault{
		"stopped": {begin: (*cache).stops, alerts: []string{"MemcachedPodDown", "MemcachedDown"}},
		"young":   {begin: (*cache).keepsFilling, alerts: []string{"MemcachedEvictsYoungItems"}},
		"full": {
			spec:  cachev1.MemcachedSpec{ExtraArgs: []string{"--disable-evictions"}},
			begin: (*cache).keepsFilling, alerts: []string{"MemcachedOutOfMemory"},
		},
		"misses": {alerts: []string{"MemcachedHitRatioFell"}},
		"crowded": {
			spec:  cachev1.MemcachedSpec{MaxConnections: few},
			begin: func(it *cache) { it.opens(15) }, alerts: []string{"MemcachedConnectionsNearLimit"},
		},
		"refuses": {
			spec:   cachev1.MemcachedSpec{MaxConnections: few},
			begin:  func(it *cache) { it.opens(100) }, // This exceeds the limit: 16, and 55 for memcached and the agent.
			alerts: []string{"MemcachedConnectionsNearLimit", "MemcachedConnectionsRefused"},
		},
		"week":  {spec: cachev1.MemcachedSpec{TLS: tls("week")}, alerts: []string{"MemcachedCertificateExpiresSoon"}},
		"today": {spec: cachev1.MemcachedSpec{TLS: tls("today")}, alerts: []string{"MemcachedCertificateExpiresSoon", "MemcachedCertificateExpiresToday"}},
		"unused": {
			spec: cachev1.MemcachedSpec{Auth: &cachev1.Auth{SecretName: usersSecret}},
			begin: func(it *cache) {
				putSecret(it.t, it.key.Namespace, usersSecret, map[string][]byte{"users": []byte("no password")})
			},
			alerts: []string{"MemcachedSecretNotInUse"},
		},
	}
}

// putFaultySecrets creates a Secret with users of memcached, and Secrets with certificates that expire in three days
// and today.
func putFaultySecrets(t *testing.T, namespace string) {
	t.Helper()
	ca := certificates.NewAuthority(t, namespace)
	for name, left := range map[string]time.Duration{"week": 3 * 24 * time.Hour, "today": 12 * time.Hour} {
		host := name + "." + namespace + ".svc"
		pair, err := ca.Issue(pki.Identity{User: name, Hosts: []string{host}, NotAfter: time.Now().Add(left)})
		if err != nil {
			t.Fatal(err)
		}
		putSecret(t, namespace, name, map[string][]byte{
			corev1.TLSCertKey: pair.Cert, corev1.TLSPrivateKeyKey: pair.Key, "ca.crt": ca.Cert,
		})
	}
	putSecret(t, namespace, usersSecret, map[string][]byte{"users": []byte("app:password")})
}

// TestFaultsOfTheOperatorFireTheirAlerts runs alone, because the operator's metrics are about the caches of all tests.
func TestFaultsOfTheOperatorFireTheirAlerts(t *testing.T) {
	c.exclusive(t)
	const name = "alerts-operator"
	it := newCache(t, name, cachev1.MemcachedSpec{
		Image: newMemcached(t), Size: new(int32(3)), TerminationDelaySeconds: new(int32(1)),
		Slots: &cachev1.Slots{Handoff: &cachev1.Handoff{BytesPerSecond: new(resource.MustParse("128Ki"))}},
	})
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")
	it.isServing(cachev1.SlotServing)
	automatic := secured(t, name, "automatic", cachev1.MemcachedSpec{
		UpdatePolicy: cachev1.UpdateAutomatic, Rollout: &cachev1.Rollout{ProgressDeadlineSeconds: new(int32(10))}, Resources: little(),
	})
	automatic.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	server := it.scraped(hurriedRules(t))
	fired := func() []string { return it.fired(server, `memcached=""`, "reason") }
	fires := func(alert string) {
		it.t.Helper()
		it.Eventually(fired).Should(gomega.ContainElement(alert))
	}

	it.fills(it.slot(name+"-0").Pod, fallbackKeys)
	it.patch(`{"threads":2}`)
	old, _ := it.copies(name + "-0")
	it.kills(old, "memcached")
	it.endsCold(name+"-0", "OldEnded", "OldUnreachable")
	fires("MemcachedSlotStartedCold HandoffFailed")
	it.says(cachev1.ReasonAllPodsReady, "3 of 3 Pods ready")

	secured(t, name, "missing", cachev1.MemcachedSpec{TLS: &cachev1.TLS{SecretName: "missing"}})
	it.allowsNoServices()
	secured(t, name, "refused", cachev1.MemcachedSpec{}) // The API server refuses its Service.
	fires("MemcachedNotReady " + cachev1.ReasonSecretNotFound)
	fires("MemcachedNotReady " + cachev1.ReasonApplyFailed)
	fires("MemcachedOperatorFailing " + cachev1.ReasonApplyFailed)
	for _, silent := range []string{"MemcachedUpdatesStopped", "MemcachedOperatorDown", "MemcachedOperatorStuck"} {
		it.Expect(fired()).NotTo(gomega.ContainElement(silent))
	}

	deploy := func(ctx context.Context, memcached string) {
		it.Expect(c.deploy(ctx, oci.Host().Architecture, c.images.Operator, memcached)).To(gomega.Succeed())
	}
	t.Cleanup(func() { deploy(context.WithoutCancel(t.Context()), c.images.Memcached) })
	deploy(t.Context(), c.Cluster.Image("memcached", "missing"))
	fires("MemcachedUpdatesStopped")
	c.stopOperator(t)
	// This is queried only now, because the operator may have had no leader while it was replaced.
	it.Eventually(func() int {
		return len(it.query(server, `ALERTS{alertname="MemcachedOperatorDown", alertstate="firing"}`))
	}).Should(gomega.Equal(1))
}
