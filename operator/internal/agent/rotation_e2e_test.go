//go:build e2e

package agent

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/reload"
)

const keys = 1000

// fill stores items, so that a test notices if items are lost.
func fill(t *testing.T, c *client) {
	t.Helper()
	for i := range keys {
		c.set(t, fmt.Sprint("key", i), fmt.Sprint("value", i))
	}
}

func wantAll(t *testing.T, c *client) {
	t.Helper()
	for i := range keys {
		c.want(t, fmt.Sprint("key", i), fmt.Sprint("value", i))
	}
}

// TestAPasswordIsRotated rotates a password in two steps, so that no client is refused in between. Connections stay
// open, and no key is lost.
func TestAPasswordIsRotated(t *testing.T) {
	t.Parallel()
	certificate := agenttest.NewCertificate(t, nil)
	p := &pod{users: "ann:old", certificate: certificate}
	p.start(t)
	p.awaitSync(t, "auth", 1)
	address, config := p.options.MemcachedTLSAddress, trust(certificate)
	kept := mustLogin(t, address, config, "ann", "old")
	fill(t, kept)

	p.mountUsers(t, "ann:new\nann:old")
	p.awaitSync(t, "auth", 0)
	p.awaitSync(t, "auth", 1)
	mustLogin(t, address, config, "ann", "old")
	mustLogin(t, address, config, "ann", "new")

	p.mountUsers(t, "ann:new")
	p.awaitSync(t, "auth", 0)
	p.awaitSync(t, "auth", 1)
	mustBeRefused(t, address, config, "ann", "old")
	wantAll(t, mustLogin(t, address, config, "ann", "new"))
	wantAll(t, kept)
	metrics := p.metrics(t)
	if value(t, metrics, "memcached_up") != 1 || value(t, metrics, `memcached_agent_reloads_total{secret="auth"}`) < 3 {
		t.Error("metrics did not survive it")
	}
}

// TestACertificateIsRotated rotates a certificate, with and without users, while a connection that was opened with the
// old certificate stays open.
func TestACertificateIsRotated(t *testing.T) {
	t.Parallel()
	for name, users := range map[string]string{"without users": "", "with users": "ann:one"} {
		t.Run(name, func(t *testing.T) {
			before, after := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
			p := &pod{users: users, certificate: before}
			p.start(t)
			p.awaitSync(t, "tls", 1)
			kept := mustLogin(t, p.options.MemcachedTLSAddress, trust(before), "ann", "one") // without users, it stores a key
			fill(t, kept)

			p.mountCertificate(t, after)
			p.awaitSync(t, "tls", 0)
			p.awaitSync(t, "tls", 1)
			if _, err := connect(t, p.options.MemcachedTLSAddress, trust(before)); err == nil {
				t.Error("the certificate of before is served")
			}
			wantAll(t, mustLogin(t, p.options.MemcachedTLSAddress, trust(after), "ann", "one"))
			wantAll(t, kept)
			if got := value(t, p.metrics(t), "memcached_certificate_not_after_timestamp_seconds"); got != float64(after.Parsed.NotAfter.Unix()) {
				t.Errorf("the certificate ends at %g", got)
			}
		})
	}
}

// TestASecretThatIsMalformedChangesNothing mounts two malformed Secrets. One has a ninth user, which memcached would
// ignore. The other has the key of another certificate, with which memcached could serve no client any more.
func TestASecretThatIsMalformedChangesNothing(t *testing.T) {
	t.Parallel()
	certificate, other := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
	p := &pod{users: "ann:one", certificate: certificate}
	p.start(t)
	p.awaitSync(t, "auth", 1)
	p.awaitSync(t, "tls", 1)
	address, config := p.options.MemcachedTLSAddress, trust(certificate)
	kept := mustLogin(t, address, config, "ann", "one")
	fill(t, kept)

	p.mountUsers(t, strings.Repeat("ann:pa55word\n", 9))
	agenttest.Mount(t, p.options.TLSDir, map[string]string{"tls.crt": other.PEM, "tls.key": certificate.Key})
	p.awaitSync(t, "auth", 0)
	p.awaitSync(t, "tls", 0)
	wait(t).Eventually(p.log.String).Should(gomega.SatisfyAll(
		gomega.ContainSubstring("users: 9 users: memcached holds at most 8"),
		gomega.ContainSubstring("tls.crt and tls.key are not a key pair that memcached can load")))
	// A valid list of users has to wait: from 1.6.40 on, memcached would load the certificate together with the list.
	p.mountUsers(t, "ann:two")
	wait(t).Eventually(p.log.String).Should(gomega.ContainSubstring("memcached can't load the users before it can load the certificate"))
	mustLogin(t, address, config, "ann", "one")
	wantAll(t, kept)

	p.mountCertificate(t, other)
	p.awaitSync(t, "tls", 1)
	p.awaitSync(t, "auth", 1)
	wantAll(t, mustLogin(t, address, trust(other), "ann", "two"))
	wantAll(t, kept)
	if strings.Contains(p.log.String(), "pa55word") {
		t.Error("the log contains a password")
	}
}

// TestASecretThatLosesItsClientCAChangesNothing mounts a Secret without ca.crt. Memcached would serve the new
// certificate before it notices that the CAs are missing.
func TestASecretThatLosesItsClientCAChangesNothing(t *testing.T) {
	t.Parallel()
	ca := agenttest.NewCertificate(t, nil)
	certificate, other := agenttest.NewCertificate(t, ca), agenttest.NewCertificate(t, ca)
	p := &pod{certificate: certificate, clientCA: ca}
	p.start(t)
	p.awaitSync(t, "tls", 1)
	agenttest.Mount(t, p.options.TLSDir, other.Secret())
	p.awaitSync(t, "tls", 0)
	wait(t).Eventually(p.log.String).Should(gomega.ContainSubstring("the Secret has no ca.crt"))
	served, err := reload.Served(t.Context(), p.options.MemcachedTLSAddress)
	if err != nil || !served.Equal(certificate.Parsed) {
		t.Errorf("memcached serves %v, error %v", served, err)
	}
	p.mountCertificate(t, other)
	p.awaitSync(t, "tls", 1)
}

// TestMemcachedWaitsForASecretThatCanBeUsed starts the agent with a malformed Secret.
func TestMemcachedWaitsForASecretThatCanBeUsed(t *testing.T) {
	t.Parallel()
	p := &pod{users: "malformed"}
	p.prepare(t)
	p.startAgent(t)
	wait(t).Eventually(func() (int, error) { return p.status("/started") }).Should(gomega.Equal(http.StatusServiceUnavailable))
	if _, err := os.Stat(p.options.AuthFile); !os.IsNotExist(err) {
		t.Errorf("there is a file: %v", err)
	}
	p.mountUsers(t, "ann:one")
	wait(t).Eventually(func() (int, error) { return p.status("/started") }).Should(gomega.Equal(http.StatusOK))
	p.startMemcached(t)
	p.awaitSync(t, "auth", 1)
}

// TestAnAgentThatWasAwayCatchesUp changes both Secrets while the agent is stopped.
func TestAnAgentThatWasAwayCatchesUp(t *testing.T) {
	t.Parallel()
	before, after := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
	p := &pod{users: "ann:one", certificate: before}
	p.start(t)
	p.awaitSync(t, "auth", 1)
	p.stopAgent()
	p.mountUsers(t, "bob:two")
	p.mountCertificate(t, after)
	p.startAgent(t)
	wait(t).Eventually(func() (int, error) { return p.status("/started") }).Should(gomega.Equal(http.StatusOK))
	p.awaitSync(t, "auth", 1)
	p.awaitSync(t, "tls", 1)
	mustLogin(t, p.options.MemcachedTLSAddress, trust(after), "bob", "two")
	mustBeRefused(t, p.options.MemcachedTLSAddress, trust(after), "ann", "one")
}

// TestANewClientCAIsTaken replaces the CA of the client certificates. Memcached accepts the new CA immediately, but
// also accepts the old one until it is restarted.
func TestANewClientCAIsTaken(t *testing.T) {
	t.Parallel()
	oldCA, newCA := agenttest.NewCertificate(t, nil), agenttest.NewCertificate(t, nil)
	p := &pod{certificate: agenttest.NewCertificate(t, nil), clientCA: oldCA}
	p.start(t)
	p.awaitSync(t, "tls", 1)
	works := func(ca *agenttest.Certificate) bool {
		config := trust(p.certificate, pair(t, agenttest.NewCertificate(t, ca)))
		c, err := connect(t, p.options.MemcachedTLSAddress, config)
		if err == nil {
			_, err = c.ask("version\r\n", 1)
		}
		return err == nil
	}
	if !works(oldCA) || works(newCA) {
		t.Fatal("the wrong clients are accepted")
	}
	p.clientCA = newCA
	p.mountCertificate(t, p.certificate)
	p.awaitSync(t, "tls", 0)
	p.awaitSync(t, "tls", 1)
	if !works(newCA) {
		t.Error("a client by the new CA is refused")
	}
	if !works(oldCA) {
		t.Error("memcached forgot the old CA: the docs say that it needs a restart for that")
	}
}
