//go:build e2e

package e2e

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/certificates"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// mode is a way to protect a cache, with a client that it admits, and clients that it refuses.
type mode struct {
	spec  cachev1.MemcachedSpec
	right string
	wrong []stranger
}

// stranger is a client that is refused: its flags, and the answer that it gets.
type stranger struct{ flags, answer string }

// modes are all modes, by the name of the cache.
func modes() map[string]mode {
	const (
		password        = login + "password"
		unauthenticated = "CLIENT_ERROR unauthenticated"
		wrongPassword   = "log in as app: CLIENT_ERROR authentication failure"
	)
	server := &cachev1.TLS{SecretName: serverSecret}
	mutual := &cachev1.TLS{SecretName: serverSecret, ClientAuth: cachev1.ClientAuthRequire}
	asking := &cachev1.TLS{SecretName: serverSecret, ClientAuth: cachev1.ClientAuthRequest}
	migrating := &cachev1.TLS{SecretName: serverSecret, Plaintext: cachev1.PlaintextEnabled}
	users := &cachev1.Auth{SecretName: usersSecret}
	return map[string]mode{
		"plaintext": {right: ""},
		"tls": {spec: cachev1.MemcachedSpec{TLS: server}, right: trusting, wrong: []stranger{
			{"", refused},
		}},
		"mutual-tls": {spec: cachev1.MemcachedSpec{TLS: mutual}, right: trusting + certified, wrong: []stranger{
			{"", refused},
			{trusting, refused},
			{trusting + strangers, refused},
		}},
		"tls-that-asks": {spec: cachev1.MemcachedSpec{TLS: asking}, right: trusting, wrong: []stranger{
			{trusting + strangers, refused},
		}},
		"tls-and-plaintext": {spec: cachev1.MemcachedSpec{TLS: migrating}, right: trusting, wrong: []stranger{
			{"", refused},
		}},
		"auth": {spec: cachev1.MemcachedSpec{Auth: users}, right: password, wrong: []stranger{
			{"", unauthenticated},
			{login + "wrong", wrongPassword},
		}},
		"tls-auth": {spec: cachev1.MemcachedSpec{TLS: server, Auth: users}, right: trusting + password, wrong: []stranger{
			{password, refused},
			{trusting, unauthenticated},
			{trusting + login + "wrong", wrongPassword},
		}},
	}
}

// TestEachModeAdmitsTheRightClientAlone creates a cache in each mode. All of these caches export metrics.
func TestEachModeAdmitsTheRightClientAlone(t *testing.T) {
	c.shared(t)
	const namespace, password, wrong = "security", "pa55word-of-app", "pa55word-of-nobody"
	makeNamespace(t, namespace)
	ca, all := certificates.NewAuthority(t, "security"), modes()
	var hosts []string
	for name := range all {
		hosts = append(hosts, name+"."+namespace+".svc")
	}
	server := certificates.Issue(t, ca, hosts...)
	putSecret(t, namespace, serverSecret, map[string][]byte{"tls.crt": server.Cert, "tls.key": server.Key, "ca.crt": ca.Cert})
	putSecret(t, namespace, usersSecret, map[string][]byte{"username": []byte("app"), "password": []byte(password)})
	putClients(t, namespace, ca, map[string]string{"password": password, "wrong": wrong})
	caches := map[string]*cache{}
	for name, mode := range all {
		caches[name] = secured(t, namespace, name, mode.spec)
	}
	for name, mode := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // Most of it is waiting for Pods.
			it := caches[name].in(t)
			it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
			it.admits(mode)
			it.Eventually(func() float64 { return it.metrics().value("memcached_up") }).Should(gomega.Equal(1.))
			it.showsNothingOf(password, wrong, "app:"+password, string(server.Key))
		})
	}
}

// admits runs the clients of a mode against the cache.
func (it *cache) admits(mode mode) {
	it.t.Helper()
	it.lets("set", mode.right)
	it.lets("get", mode.right)
	before := lifeOf(it.pod())
	for _, stranger := range mode.wrong {
		it.refuses(stranger.flags, stranger.answer)
	}
	it.lets("get", mode.right)
	it.Expect(lifeOf(it.pod())).To(gomega.Equal(before), "a stranger ends no Pod")
	plaintext := " --endpoint=" + it.key.Name + "." + it.key.Namespace + ".svc:11211"
	switch {
	case mode.spec.TLS == nil:
	case mode.spec.TLS.Plaintext == cachev1.PlaintextEnabled:
		it.lets("get", plaintext)
	default:
		it.refuses(plaintext, "connection refused")
	}
}
