package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// secret creates a Secret, or replaces its data.
func (w *world) secret(name string, data map[string]string) {
	w.t.Helper()
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name, secret.StringData = w.namespace, name, data
	if err := cluster.Create(w.ctx, secret.DeepCopy()); err == nil {
		return
	}
	there := get(w, name, &corev1.Secret{})
	there.Data, there.StringData = nil, data
	w.Expect(cluster.Update(w.ctx, there)).To(gomega.Succeed())
}

const password = history.SecretMarker // A rule of the model checks that the operator shows it nowhere.

func TestSecretNotFoundAndInvalidSecretChangeNoPod(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	pods := w.uids("cache")
	stays := func(reason string, words ...string) {
		t.Helper()
		w.reason("cache", reason)
		for _, words := range words {
			w.says("cache", words)
		}
		if diff := cmp.Diff(pods, w.uids("cache")); diff != "" {
			t.Fatalf("Pods (-before +after):\n%s", diff)
		}
	}
	w.patchSpec(`{"auth":{"secretName":"users"}}`)
	stays(cachev1.ReasonSecretNotFound, `spec.auth.secretName "users" does not exist`, w.namespace, "Until then, running Pods are not replaced")

	w.secret("users", map[string]string{"users": strings.Repeat("ann:"+password+"\n", 9)})
	stays(cachev1.ReasonInvalidSecret, "users: 9 users: memcached holds at most 8")

	w.secret("users", map[string]string{"username": "ann", "password": password})
	w.ready("cache")
	w.Expect(w.rollouts("cache")).To(gomega.Equal(2), "authentication is another Pod template")
	pods = w.uids("cache")

	w.secret("users", map[string]string{"username": "ann", "password": password + " and more"})
	stays(cachev1.ReasonInvalidSecret, "a blank or control character")
	w.secret("users", map[string]string{"users": "ann:" + password + "\nbob:" + password})
	w.ready("cache")
	w.Expect(cluster.Delete(w.ctx, get(w, "users", &corev1.Secret{}))).To(gomega.Succeed())
	stays(cachev1.ReasonSecretNotFound)
	w.secret("users", map[string]string{"users": "ann:" + password + "\nbob:" + password})
	w.ready("cache")
	if diff := cmp.Diff(pods, w.uids("cache")); diff != "" {
		t.Errorf("a change to the content of a Secret must not replace Pods (-before +after):\n%s", diff)
	}
}

// certificate returns the data of a Secret with a certificate, and with the CAs of the clients.
func certificate(t *testing.T, notAfter time.Time, clientCAs ...*pki.Authority) map[string]string {
	t.Helper()
	pair, err := certificates.NewAuthority(t, "servers").Issue(pki.Identity{User: "cache", Hosts: []string{"cache"}, NotAfter: notAfter})
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]string{"tls.crt": string(pair.Cert), "tls.key": string(pair.Key)}
	for _, ca := range clientCAs {
		data["ca.crt"] += string(ca.Cert)
	}
	return data
}

func TestCertificateExpiredOnceItHasAndTheStatusHasItsEnd(t *testing.T) {
	w := newWorld(t)
	hour := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	w.secret("tls", certificate(t, hour))
	w.memcached("cache", 1)
	w.ready("cache")
	w.patchSpec(`{"tls":{"secretName":"tls"}}`)
	mc := w.ready("cache")
	if mc.Status.Endpoint != "cache."+w.namespace+".svc:11212" || !mc.Status.TLS.NotAfter.Time.Equal(hour) {
		t.Errorf("endpoint %s, the certificate ends at %s", mc.Status.Endpoint, mc.Status.TLS.NotAfter)
	}
	pods := w.uids("cache")

	moment := time.Now().Add(3 * time.Second)
	w.secret("tls", certificate(t, moment))
	w.reason("cache", cachev1.ReasonCertificateExpired)
	w.says("cache", moment.UTC().Format(time.RFC3339))

	w.secret("tls", certificate(t, hour))
	mc = w.ready("cache")
	if !mc.Status.TLS.NotAfter.Time.Equal(hour) {
		t.Errorf("the new certificate ends at %s", mc.Status.TLS.NotAfter)
	}
	if diff := cmp.Diff(pods, w.uids("cache")); diff != "" {
		t.Errorf("a certificate is no reason to replace Pods (-before +after):\n%s", diff)
	}

	w.patchSpec(`{"tls":{"clientAuth":"Require"}}`)
	w.reason("cache", cachev1.ReasonInvalidSecret)
	w.says("cache", "has no ca.crt")
	w.patchSpec(`{"tls":null}`)
	mc = w.ready("cache")
	if mc.Status.TLS != nil || mc.Status.Endpoint != "cache."+w.namespace+".svc:11211" {
		t.Errorf("endpoint %s, certificate %v", mc.Status.Endpoint, mc.Status.TLS)
	}
}

func TestClientCARemovedAndUserRemovedUntilARestart(t *testing.T) {
	w := newWorld(t)
	hour := time.Now().Add(time.Hour)
	one, other := certificates.NewAuthority(t, "one"), certificates.NewAuthority(t, "other")
	w.secret("tls", certificate(t, hour, one, other))
	w.secret("users", map[string]string{"users": "ann:old"})
	w.memcached("cache", 1)
	w.patchSpec(`{"tls":{"secretName":"tls","clientAuth":"Require"},"auth":{"secretName":"users"}}`)
	w.ready("cache")
	required := w.restartRequired

	w.secret("users", map[string]string{"users": "ann:old\nann:new"})
	w.secret("tls", certificate(t, hour, other, one)) // A new certificate and another order need no restart.
	w.Consistently(required, "1s").Should(gomega.BeEmpty())
	w.secret("tls", certificate(t, hour, one))
	w.Eventually(required).Should(gomega.HavePrefix(`ClientCARemoved: Removed from the Secret "tls": client CA "CN=other"`))
	w.secret("tls", certificate(t, hour, one, other))
	w.Eventually(required).Should(gomega.BeEmpty(), "it is back")
	w.secret("tls", certificate(t, hour, one))
	w.Eventually(required).Should(gomega.ContainSubstring(`client CA "CN=other"`))
	w.stop()
	w.secret("users", map[string]string{"users": "ann:new"}) // The operator is not running, so it misses the change.
	w.start()
	w.memcached("probe", 0)
	w.reason("probe", cachev1.ReasonScaledToZero)
	w.Expect(required()).To(gomega.And(
		gomega.ContainSubstring(`client CA "CN=other"`), gomega.Not(gomega.ContainSubstring("a user or a password"))))

	w.secret("users", map[string]string{"users": "ann:newer"})
	w.Eventually(required).Should(gomega.And(
		gomega.HavePrefix("ClientCARemoved: "), gomega.ContainSubstring(`removed from the Secret "users": a user or a password`)))
	w.Eventually(func() string { // A Pod created in the same second counts as older.
		w.restart()
		return required()
	}, patience, "1s").Should(gomega.BeEmpty())
}

// restartRequired returns the reason and the message of the condition RestartRequired; empty if it is not set.
func (w *world) restartRequired() string {
	status := get(w, "cache", &cachev1.Memcached{}).Status
	condition := meta.FindStatusCondition(status.Conditions, cachev1.ConditionRestartRequired)
	if condition == nil {
		return ""
	}
	return condition.Reason + ": " + condition.Message
}

// restart does the same as kubectl rollout restart, and makes the new Pods ready.
func (w *world) restart() {
	w.t.Helper()
	raw := client.RawPatch("application/strategic-merge-patch+json", fmt.Appendf(nil,
		`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, time.Now()))
	old := w.uids("cache")
	w.Expect(cluster.Patch(w.ctx, w.deployment("cache"), raw)).To(gomega.Succeed())
	w.Eventually(func() bool {
		return !slices.ContainsFunc(w.run("cache"), func(pod corev1.Pod) bool { return slices.Contains(old, pod.UID) })
	}).Should(gomega.BeTrue())
}

// TestSecretsCostOneReadEach counts requests. The operator reads each version of a Secret once, and reads no Secret at
// rest.
func TestSecretsCostOneReadEach(t *testing.T) {
	w := newWorld(t)
	w.secret("tls", certificate(t, time.Now().Add(time.Hour)))
	mc := w.create("cache", cachev1.MemcachedSpec{Size: new(int32(1)), TLS: &cachev1.TLS{SecretName: "tls"}})
	w.ready("cache")
	reads := func() int { return count(w.quiet(), "get secrets") }
	if got := reads(); got != 1 {
		t.Errorf("a new Memcached read its Secret %d times, want once", got)
	}
	before := len(w.quiet())
	for _, change := range []func(){
		func() { w.patch(mc, "cache", `{"metadata":{"annotations":{"example.com/touched":"yes"}}}`) },
		func() { w.secret("other", map[string]string{"a": "b"}) },
	} {
		change()
		if more := w.quiet()[before:]; len(more) > 0 {
			t.Errorf("no owned field changed, and the operator requested %v", more)
		}
	}
	w.secret("tls", certificate(t, time.Now().Add(time.Hour)))
	w.Eventually(func(context.Context) []string { return w.quiet()[before:] }).WithContext(w.ctx).
		Should(gomega.Equal([]string{"get secrets", "patch memcacheds/status"}))
}
