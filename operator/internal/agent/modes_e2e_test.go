//go:build e2e

package agent

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/reload"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// TestMetricsComeThroughEveryMode starts memcached in each of its modes. In each, the agent serves metrics, clients
// with the right credentials are served, and others are refused.
func TestMetricsComeThroughEveryMode(t *testing.T) {
	t.Parallel()
	ca := agenttest.NewCertificate(t, nil)
	certificate := agenttest.NewCertificate(t, ca)
	tests := map[string]*pod{
		"plaintext":            {},
		"users":                {users: "ann:one\nbob:two"},
		"TLS":                  {certificate: certificate},
		"TLS and users":        {certificate: certificate, users: "ann:one\nbob:two"},
		"mutual TLS":           {certificate: certificate, clientCA: ca},
		"mutual TLS and users": {certificate: certificate, clientCA: ca, users: "ann:one\nbob:two"},
		"users, eight of them": {users: "bob:two\n" + strings.Repeat("ann:one\n", 7)},
		"the longest user":     {users: "bob:two\nann:" + strings.Repeat("x", 250)},
		"any other password":   {users: "bob:two\nann:ö:x:"},
	}
	for name, p := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.start(t)
			if p.users != "" {
				p.awaitSync(t, "auth", 1)
			}
			address, config := p.options.MemcachedAddress, (*tls.Config)(nil)
			if p.certificate != nil {
				p.awaitSync(t, "tls", 1)
				if got := value(t, p.metrics(t), "memcached_certificate_not_after_timestamp_seconds"); got != float64(certificate.Parsed.NotAfter.Unix()) {
					t.Errorf("the certificate ends at %g", got)
				}
				address, config = p.options.MemcachedTLSAddress, trust(ca, pair(t, agenttest.NewCertificate(t, ca)))
			}
			p.tryClients(t, address, config)
			if got := value(t, p.metrics(t), `memcached_commands_total{command="get",status="hit"}`); got < 1 {
				t.Errorf("%g reads were counted", got)
			}
			wait(t).Eventually(func() (int64, error) {
				report, err := p.usage("")
				return report.Observed, err
			}).Should(gomega.BeNumerically(">", 0))
		})
	}
}

// usage returns the agent's report on the requests of clients.
func (p *pod) usage(query string) (report usage.Report, err error) {
	answer, err := http.Get("http://" + p.options.ProbeAddress + usage.Path + "?" + query)
	if err != nil {
		return report, err
	}
	defer answer.Body.Close()
	err = json.NewDecoder(answer.Body).Decode(&report)
	return report, err
}

// tryClients checks that a client with the right credentials can use memcached, and that clients with all kinds of
// wrong ones cannot.
func (p *pod) tryClients(t *testing.T, address string, config *tls.Config) {
	t.Helper()
	right, err := connect(t, address, config)
	if err != nil {
		t.Fatal(err)
	}
	if p.users != "" {
		for line := range strings.SplitSeq(p.users, "\n") {
			if user, password, ok := strings.Cut(line, ":"); ok {
				right = mustLogin(t, address, config, user, password)
			}
		}
		mustBeRefused(t, address, config, "ann", "wrong")
		mustBeRefused(t, address, config, "eve", "two")
	}
	right.set(t, "key", "value")
	right.want(t, "key", "value")
	if p.clientCA == nil {
		return
	}
	stranger := pair(t, agenttest.NewCertificate(t, nil))
	for name, wrong := range map[string]*tls.Config{"no certificate": trust(p.clientCA), "a certificate of another CA": trust(p.clientCA, stranger)} {
		if c, err := connect(t, address, wrong); err == nil {
			if answer, err := c.ask("version\r\n", 1); err == nil {
				t.Errorf("a client with %s is answered: %s", name, answer)
			}
		}
	}
}

func pair(t *testing.T, certificate *agenttest.Certificate) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(certificate.PEM), []byte(certificate.Key))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// TestEveryMetricIsExported makes memcached report all statistics: it stores an item, and uses the LRU for short-lived
// items.
func TestEveryMetricIsExported(t *testing.T) {
	t.Parallel()
	totals := exporter.Totals()
	for _, slabClasses := range []bool{false, true} {
		p := &pod{
			certificate: agenttest.NewCertificate(t, nil), users: "ann:one", slabClasses: slabClasses,
			arguments: []string{"--extended=temporary_ttl=61"},
		}
		p.start(t)
		mustLogin(t, p.options.MemcachedAddress, nil, "ann", "one").set(t, "key", "value")
		metrics := p.metrics(t)
		for _, metric := range append(exporter.Metrics(), ownMetrics()...) {
			want := slabClasses || totals[metric] != exporter.NoTotal
			head := "\n# TYPE " + metric.Name + " " + string(metric.Kind) + "\n" + metric.Name
			if got := strings.Contains(metrics, head); got != want {
				t.Errorf("%s is served: %v, with slab classes: %v", metric.Name, got, slabClasses)
			}
		}
		series := strings.Count(metrics, "\nmemcached_")
		if t.Logf("%d series", series); !slabClasses && series > 120 {
			t.Errorf("there are %d series", series)
		}
	}
}

// TestMetricsComeWhenNoConnectionIsLeft opens more connections than memcached takes.
func TestMetricsComeWhenNoConnectionIsLeft(t *testing.T) {
	t.Parallel()
	const limit = 60 // memcached needs some of them as descriptors for itself
	p := &pod{arguments: []string{fmt.Sprintf("--conn-limit=%d", limit)}}
	p.start(t)
	for range limit {
		if _, err := connect(t, p.options.MemcachedAddress, nil); err != nil {
			t.Fatal(err)
		}
	}
	late, err := connect(t, p.options.MemcachedAddress, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := late.ask("", 1); answer != "ERROR Too many open connections" {
		t.Fatalf("one more connection is taken: %q, %v", answer, err)
	}
	metrics := p.metrics(t)
	if value(t, metrics, "memcached_up") != 1 || value(t, metrics, "memcached_connections_rejected_total") == 0 {
		t.Error("the metrics do not report refused connections")
	}
}

// TestAPasswordIsNotStored logs in to a memcached that requires no password, and that would store the login as an item.
func TestAPasswordIsNotStored(t *testing.T) {
	t.Parallel()
	p := &pod{}
	p.start(t)
	agent, err := protocol.Dial(t.Context(), p.options.MemcachedAddress, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if err := agent.Authenticate(t.Context(), "ann", "secret"); err != nil {
		t.Fatal(err)
	}
	c, err := connect(t, p.options.MemcachedAddress, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := c.ask("get memcached-agent\r\n", 1); err != nil || answer != "END" {
		t.Errorf("there is %q, error %v", answer, err)
	}
}

// TestALookAtTheCertificateLeavesNoTrace reads the certificate that memcached serves many times. If a connection ends
// too early, memcached logs an error.
func TestALookAtTheCertificateLeavesNoTrace(t *testing.T) {
	t.Parallel()
	p := &pod{certificate: agenttest.NewCertificate(t, nil)}
	p.start(t)
	for range 500 {
		if _, err := reload.Served(t.Context(), p.options.MemcachedTLSAddress); err != nil {
			t.Fatal(err)
		}
	}
	if log := p.log.String(); strings.Contains(log, "getpeername") || strings.Contains(log, "accept4") {
		t.Error("memcached notes it")
	}
}

// TestAMemcachedThatIsDownIsReported stops memcached and starts it again. The agent keeps running.
func TestAMemcachedThatIsDownIsReported(t *testing.T) {
	t.Parallel()
	p := &pod{users: "ann:one"}
	p.start(t)
	_ = p.memcached.Process.Kill()
	_ = p.memcached.Wait()
	wait(t).Eventually(func() string { return p.metrics(t) }).Should(gomega.ContainSubstring("memcached_up 0\n"))
	for _, path := range []string{"/healthz", "/started"} {
		if status, err := p.status(path); err != nil || status != 200 {
			t.Errorf("%s: %d, %v", path, status, err)
		}
	}
	p.startMemcached(t)
	wait(t).Eventually(func() string { return p.metrics(t) }).Should(gomega.ContainSubstring("memcached_up 1\n"))
}
