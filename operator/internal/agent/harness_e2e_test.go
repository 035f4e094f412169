//go:build e2e

package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// pod is memcached with the agent next to it. A feature whose field is empty is off.
type pod struct {
	users       string                 // the Secret's entry users: a line user:password for each
	certificate *agenttest.Certificate // the certificate in the Secret
	clientCA    *agenttest.Certificate // makes memcached require a client certificate that this CA signed
	arguments   []string               // additional arguments of memcached
	slabClasses bool                   // the agent serves the metrics of each slab class
	discovery   bool                   // the agent answers clients with auto discovery

	options   *Options
	log       *buffer
	memcached *exec.Cmd
	stopAgent func()
}

// buffer is a log that a test reads while the agent writes it.
type buffer struct {
	mutex   sync.Mutex
	content bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.Write(p)
}

func (b *buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.content.String()
}

// start starts the agent, and starts memcached once the agent answers that memcached may start.
func (p *pod) start(t *testing.T) {
	t.Helper()
	p.prepare(t)
	p.startAgent(t)
	wait(t).Eventually(func() (int, error) { return p.status("/started") }).Should(gomega.Equal(http.StatusOK))
	p.startMemcached(t)
	wait(t).Eventually(func() string { return p.metrics(t) }).Should(gomega.ContainSubstring("memcached_up 1\n"))
}

// prepare mounts the Secrets and chooses addresses.
func (p *pod) prepare(t *testing.T) {
	t.Helper()
	p.log = &buffer{}
	p.options = NewOptions()
	p.options.MemcachedAddress, p.options.MetricsAddress = unused.Address(t), unused.Address(t)
	p.options.ProbeAddress, p.options.Proc = unused.Address(t), t.TempDir()
	p.options.SlabClasses = p.slabClasses
	if p.discovery {
		p.options.DiscoveryFile = filepath.Join(t.TempDir(), "list")
		p.options.DiscoveryAddress, p.options.DiscoveryTLSAddress = unused.Address(t), unused.Address(t)
	}
	if p.users != "" {
		p.options.AuthDir, p.options.AuthFile = t.TempDir(), filepath.Join(t.TempDir(), "auth")
		p.mountUsers(t, p.users)
	}
	if p.certificate != nil {
		p.options.TLSDir, p.options.MemcachedTLSAddress = t.TempDir(), unused.Address(t)
		p.options.ClientCA, p.options.RequireClientCertificate = p.clientCA != nil, p.clientCA != nil
		p.mountCertificate(t, p.certificate)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log:\n%s", p.log)
		}
	})
}

func (p *pod) mountUsers(t *testing.T, users string) {
	t.Helper()
	agenttest.Mount(t, p.options.AuthDir, map[string]string{"users": users})
}

func (p *pod) mountCertificate(t *testing.T, certificate *agenttest.Certificate) {
	t.Helper()
	secret := certificate.Secret()
	if p.clientCA != nil {
		secret["ca.crt"] = p.clientCA.PEM
	}
	agenttest.Mount(t, p.options.TLSDir, secret)
}

func (p *pod) startAgent(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, p.options, "test", slog.New(slog.NewTextHandler(p.log, nil))) }()
	p.stopAgent = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the agent ended: %v", err)
		}
	})
	t.Cleanup(func() { p.stopAgent() })
}

// startMemcached starts memcached as the operator would. The agent sees only this process.
func (p *pod) startMemcached(t *testing.T) {
	t.Helper()
	arguments := append([]string{"--listen=" + p.options.MemcachedAddress}, p.arguments...)
	if p.certificate != nil {
		tlsOptions := fmt.Sprintf("ssl_chain_cert=%[1]s/tls.crt,ssl_key=%[1]s/tls.key", p.options.TLSDir)
		if p.clientCA != nil {
			tlsOptions += fmt.Sprintf(",ssl_verify_mode=2,ssl_ca_cert=%s/ca.crt", p.options.TLSDir)
		}
		arguments = append(arguments, "--enable-ssl", "--extended="+tlsOptions)
		arguments[0] = "--listen=notls:" + p.options.MemcachedAddress + "," + p.options.MemcachedTLSAddress
	}
	if p.users != "" {
		arguments = append(arguments, "--auth-file="+p.options.AuthFile)
	}
	if os.Geteuid() == 0 {
		arguments = append(arguments, "--user=root") // the agent's user, as in a Pod
	}
	cmd := exec.Command("memcached", arguments...)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.memcached = cmd
	pid := strconv.Itoa(cmd.Process.Pid)
	process := filepath.Join(p.options.Proc, pid)
	if err := os.Symlink("/proc/"+pid, process); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stopMemcached(process) })
}

func (p *pod) stopMemcached(process string) {
	_ = os.Remove(process)
	_ = p.memcached.Process.Kill()
	_ = p.memcached.Wait()
}

func (p *pod) status(path string) (int, error) {
	answer, err := http.Get("http://" + p.options.ProbeAddress + path)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// metrics returns the agent's metrics. They are empty while the agent does not listen, or if it ends before it has
// answered.
func (p *pod) metrics(t *testing.T) string {
	t.Helper()
	answer, err := http.Get("http://" + p.options.MetricsAddress + "/metrics")
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

// awaitSync waits until the agent reports that memcached uses a Secret (1), or does not use it (0), and logs how long
// that took.
func (p *pod) awaitSync(t *testing.T, secret string, want int) {
	t.Helper()
	start := time.Now()
	wait(t).Eventually(func() string { return p.metrics(t) }).
		Should(gomega.ContainSubstring(fmt.Sprintf("memcached_agent_in_sync{secret=%q} %d\n", secret, want)))
	t.Logf("%s: in sync %d after %s", secret, want, time.Since(start).Round(10*time.Millisecond))
}

// trust returns a TLS configuration that trusts one certificate, or its CA. The client sends its own certificate to
// every server, even to a server that did not name the CA of that certificate.
func trust(certificate *agenttest.Certificate, own ...tls.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(certificate.Parsed)
	config := &tls.Config{RootCAs: pool, ServerName: "memcached.test"}
	for _, certificate := range own {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	}
	return config
}

func wait(t *testing.T) *gomega.WithT {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(2 * time.Minute)
	g.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	return g
}

func value(t *testing.T, metrics, series string) float64 {
	t.Helper()
	for line := range strings.Lines(metrics) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			number, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatal(err)
			}
			return number
		}
	}
	t.Fatalf("there is no %s", series)
	return 0
}
