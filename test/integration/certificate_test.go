package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
)

// TestNamesMissingUntilTheCertificateCoversThem: the Pods are ready all the time, and are not replaced.
func TestNamesMissingUntilTheCertificateCoversThem(t *testing.T) {
	w := newSlotWorld(t)
	w.secret("tls", certificateFor(t, "cache."+w.namespace+".svc"))
	w.memcachedWithSlots("cache", 2, cachev1.SlotsDNS, func(s *cachev1.MemcachedSpec) { s.TLS = &cachev1.TLS{SecretName: "tls"} })
	mc := get(w.world, "cache", &cachev1.Memcached{})
	missing := meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionCertificateIncomplete)
	wildcard := "*.cache-slots." + w.namespace + ".svc"
	if missing == nil || missing.Reason != cachev1.ReasonNamesMissing || !strings.Contains(missing.Message, "add "+wildcard) {
		t.Fatalf("conditions: %+v", mc.Status.Conditions)
	}
	pods := w.uids("cache")

	w.secret("tls", certificateFor(t, wildcard))
	w.isComplete(mc)
	w.Expect(w.uids("cache")).To(gomega.Equal(pods))
}

// certificateFor returns the data of a Secret with a certificate for these hosts.
func certificateFor(t *testing.T, hosts ...string) map[string]string {
	t.Helper()
	pair, err := certificates.NewAuthority(t, "servers").Issue(pki.Identity{User: "cache", Hosts: hosts, NotAfter: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"tls.crt": string(pair.Cert), "tls.key": string(pair.Key)}
}

// isComplete waits until the status no longer reports a name that the certificate does not cover.
func (w *slotWorld) isComplete(mc *cachev1.Memcached) {
	w.t.Helper()
	eventually(w.world, mc.Name, mc, func(mc *cachev1.Memcached) bool {
		return meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionCertificateIncomplete) == nil
	})
}
