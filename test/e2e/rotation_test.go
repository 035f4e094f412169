//go:build e2e

package e2e

import (
	"crypto/x509"
	"encoding/pem"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/pki"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

const (
	// rotated is how long it may take until memcached uses a changed Secret. The kubelet takes 90 seconds at most, and
	// memcached much less.
	rotated = 150 * time.Second

	oldPassword = "pa55word-of-before"
	newPassword = "pa55word-of-now"
)

// rotation is a cache with mutual TLS and users.
type rotation struct {
	*cache
	ca     *pki.Authority
	keys   []string // the private keys of all certificates
	writes writes
}

// TestSecretsAreRotatedWithoutARestart rotates Secrets while a client keeps its connections. Each rotation writes the
// Secrets as another project does: External Secrets, Sealed Secrets or Flux.
func TestSecretsAreRotatedWithoutARestart(t *testing.T) {
	c.shared(t)
	r := newRotation(t)
	by := func(password string) string { return trusting + certified + login + password }
	before := lifeOf(r.pod())
	r.lets("set", by("old"))
	held := r.hold(by("old"))

	r.within(func() float64 { r.putUsers("app:" + oldPassword + "\napp:" + newPassword); return r.putCertificate() })
	r.lets("get", by("old"))
	r.lets("get", by("new"))
	r.losesItsSecrets()
	r.lets("get", by("new"))
	r.writes = asSealedSecrets
	r.within(func() float64 { r.putUsers("app:" + newPassword); return r.putCertificate() })
	r.refuses(by("old"), "log in as app: CLIENT_ERROR authentication failure")
	r.lets("get", by("new"))
	r.needsARestart(cachev1.ReasonUserRemoved)
	r.lived(before)

	r.becomesMalformed()
	r.lets("get", by("new"))
	r.killsTheAgent()
	r.lets("get", by("new"))
	r.lived(before)

	r.writes = asFlux
	r.within(func() float64 { r.putUsers("app:" + newPassword + "\neve:" + newPassword); return r.putCertificate() })
	r.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	_, err := r.runs("release", by("new"))
	r.Expect(err).NotTo(gomega.HaveOccurred())
	r.lostNothing(<-held)
	r.lived(before)
	r.showsNothingOf(append(r.keys, oldPassword, newPassword, "app:"+newPassword)...)
}

func newRotation(t *testing.T) *rotation {
	t.Helper()
	const name = "rotation"
	makeNamespace(t, name)
	r := &rotation{ca: certificates.NewAuthority(t, name), cache: &cache{t: t, WithT: newGomega(t)}, writes: asExternalSecrets}
	r.key = client.ObjectKey{Namespace: name, Name: name}
	r.putCertificate()
	r.putUsers("app:" + oldPassword)
	putClients(t, name, r.ca, map[string]string{"old": oldPassword, "new": newPassword})
	secured(t, name, name, cachev1.MemcachedSpec{
		TLS:  &cachev1.TLS{SecretName: serverSecret, ClientAuth: cachev1.ClientAuthRequire},
		Auth: &cachev1.Auth{SecretName: usersSecret},
	})
	r.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	// On a busy machine, the kubelet may report a new Pod as not ready again for a moment.
	r.Eventually(func() string { return lifeOf(r.pod()).Ready }).Should(gomega.HavePrefix("True"))
	return r
}

// putCertificate writes a new certificate of the same CA into the Secret, and returns when the certificate expires, in
// Unix time.
func (r *rotation) putCertificate() float64 {
	r.t.Helper()
	pair := certificates.Issue(r.t, r.ca, r.key.Name+"."+r.key.Namespace+".svc")
	r.keys = append(r.keys, string(pair.Key))
	r.put(serverSecret, corev1.SecretTypeTLS,
		map[string][]byte{"tls.crt": pair.Cert, "tls.key": pair.Key, "ca.crt": r.ca.Cert})
	return endOf(r.t, pair)
}

// endOf returns when a certificate expires, in Unix time.
func endOf(t *testing.T, pair pki.Pair) float64 {
	t.Helper()
	block, _ := pem.Decode(pair.Cert)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return float64(certificate.NotAfter.Unix())
}

func (r *rotation) putUsers(users string) {
	r.t.Helper()
	r.put(usersSecret, corev1.SecretTypeOpaque, map[string][]byte{"users": []byte(users)})
}

func (r *rotation) put(name string, kind corev1.SecretType, data map[string][]byte) {
	r.t.Helper()
	r.writes(r.t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: name}, Type: kind, Data: data,
	})
}

// hold starts a client that keeps its connections, and waits until it has them.
func (r *rotation) hold(flags string) <-chan clientpod.Keys {
	r.t.Helper()
	held := make(chan clientpod.Keys, 1)
	items := func() float64 { return r.metrics().value("memcached_current_items") }
	r.Expect(items()).To(gomega.Equal(50.))
	go func() {
		keys, err := r.runs("hold --for="+longest.String(), flags)
		if err != nil {
			r.t.Error(err)
		}
		held <- keys
	}()
	r.Eventually(items).Should(gomega.Equal(51.))
	return held
}

func (r *rotation) lostNothing(held clientpod.Keys) {
	r.t.Helper()
	r.t.Logf("%d reads over %d connections", held.Requests, held.Held)
	if held.Held == 0 || held.Requests == 0 || held.Failed > 0 || held.Missed > 0 {
		r.t.Errorf("the connections were not held: %+v", held)
	}
}

// within calls change, which changes both Secrets and returns when the new certificate expires. Then it waits until
// memcached uses both.
func (r *rotation) within(change func() (notAfter float64)) {
	r.t.Helper()
	const reloads = `memcached_agent_reloads_total{secret="auth"}`
	before := r.metrics()
	start, notAfter := time.Now(), change()
	r.Expect(before.value("memcached_certificate_not_after_timestamp_seconds")).NotTo(gomega.Equal(notAfter))
	r.Eventually(func(g gomega.Gomega) {
		now := r.metrics()
		g.Expect(now.value("memcached_certificate_not_after_timestamp_seconds")).To(gomega.Equal(notAfter))
		g.Expect(now.value(`memcached_agent_in_sync{secret="tls"}`)).To(gomega.Equal(1.))
		g.Expect(now.value(reloads)).To(gomega.BeNumerically(">", before.value(reloads)))
		g.Expect(now.value(`memcached_agent_in_sync{secret="auth"}`)).To(gomega.Equal(1.))
	}).WithTimeout(rotated).Should(gomega.Succeed())
	r.t.Logf("both Secrets are live after %s", time.Since(start).Round(time.Second))
}

func (r *rotation) needsARestart(reason string) {
	r.t.Helper()
	r.Eventually(func() string {
		needed := meta.FindStatusCondition(r.get().Status.Conditions, cachev1.ConditionRestartRequired)
		if needed == nil {
			return "none"
		}
		return needed.Reason
	}).Should(gomega.Equal(reason))
}

// becomesMalformed makes both Secrets malformed, and waits until the agent has noticed it.
func (r *rotation) becomesMalformed() {
	r.t.Helper()
	putSecret(r.t, r.key.Namespace, usersSecret, map[string][]byte{"users": []byte("no password")})
	putSecret(r.t, r.key.Namespace, serverSecret,
		map[string][]byte{"tls.crt": r.ca.Cert, "tls.key": []byte("no key"), "ca.crt": r.ca.Cert})
	r.says(cachev1.ReasonInvalidSecret, "spec.auth.secretName")
	r.says(cachev1.ReasonInvalidSecret, "spec.tls.secretName")
	r.Eventually(func() []float64 {
		now := r.metrics()
		return []float64{now.value(`memcached_agent_in_sync{secret="tls"}`), now.value(`memcached_agent_in_sync{secret="auth"}`)}
	}).WithTimeout(rotated).Should(gomega.Equal([]float64{0, 0}))
}

// killsTheAgent kills the agent while the Secrets are malformed, so the new process has to continue with the last valid
// content.
func (r *rotation) killsTheAgent() {
	r.t.Helper()
	r.Expect(syscall.Kill(processOf(r.t, r.pod(), "agent"), syscall.SIGKILL)).To(gomega.Succeed())
	r.Eventually(func(g gomega.Gomega) {
		now := r.metrics()
		g.Expect(now.value("memcached_agent_restarts_total")).To(gomega.Equal(1.))
		g.Expect(now.value("memcached_up")).To(gomega.Equal(1.))
	}).Should(gomega.Succeed())
}

// lived asserts that the Pod and its containers are the same as before, and were ready all the time.
func (r *rotation) lived(before life) {
	r.t.Helper()
	if diff := cmp.Diff(before, lifeOf(r.pod())); diff != "" {
		r.t.Errorf("the Pod (-before +now):\n%s", diff)
	}
}
