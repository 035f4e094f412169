//go:build e2e

package agent

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// oldHost and newHost are the addresses of two Pods, which have the same ports, and noHost is an address without a Pod.
// In these tests, they are addresses of the loopback interface.
const oldHost, newHost, noHost = "127.0.0.2", "127.0.0.1", "127.0.0.3"

// cache has the settings that all Pods of a cache share. A feature whose field is empty is off.
type cache struct {
	users               string
	certificate, ca     *agenttest.Certificate
	requireCertificates bool
	memory              string // of memcached, in MiB

	plaintextPort, tlsPort string
	supervisor, agent      string // programs
}

// slotPod is a memcached that reports deletions, with the agent's program next to it.
type slotPod struct {
	pod
	host   string
	server *memcachedtest.Server
	dir    string   // the folder of the file with the instruction
	hook   []string // arguments of the agent as the preStop hook
	ended  chan error
}

func newCache(t *testing.T, c cache) *cache {
	t.Helper()
	_, c.plaintextPort, _ = net.SplitHostPort(unused.Address(t))
	_, c.tlsPort, _ = net.SplitHostPort(unused.Address(t))
	c.supervisor, c.agent = buildProgram(t)
	return &c
}

// start starts a Pod without an instruction.
func (c *cache) start(t *testing.T, host string) *slotPod {
	t.Helper()
	p := &slotPod{pod: pod{log: &buffer{}, options: NewOptions()}, host: host, dir: t.TempDir(), ended: make(chan error, 1)}
	_, probePort, _ := net.SplitHostPort(unused.Address(t)) // The preStop hook calls localhost.
	p.options.MetricsAddress, p.options.ProbeAddress = unused.Address(t), net.JoinHostPort("127.0.0.1", probePort)
	p.options.MemcachedAddress = net.JoinHostPort(host, c.plaintextPort)
	p.options.Proc, p.options.HandoffFile = t.TempDir(), filepath.Join(p.dir, "handoff")
	p.instruct(t, instruction.Instruction{})
	memcached := []string{"--extended=worker_logbuf_size=8192,watcher_logbuf_size=16384"}
	if c.memory != "" {
		memcached = append(memcached, "--memory-limit="+c.memory)
	}
	agent := []string{
		c.agent, "--handoff-file=" + p.options.HandoffFile, "--proc=" + p.options.Proc,
		"--metrics-bind-address=" + p.options.MetricsAddress, "--health-probe-bind-address=" + p.options.ProbeAddress,
		"--memcached-address=" + p.options.MemcachedAddress, "--handoff-timeout=20s", "--termination-delay=1s",
	}
	if c.users != "" {
		authDir, file := t.TempDir(), filepath.Join(t.TempDir(), "auth")
		agenttest.Mount(t, authDir, map[string]string{"users": c.users})
		list, err := users.ParseFile([]byte(c.users))
		if err == nil {
			err = users.WriteFile(file, list)
		}
		if err != nil {
			t.Fatal(err)
		}
		agent = append(agent, "--auth-dir="+authDir, "--auth-file="+file)
		memcached = append(memcached, "--auth-file="+file)
	}
	if c.certificate == nil {
		memcached = append(memcached, "--listen="+p.options.MemcachedAddress)
	} else {
		ofAgent, ofMemcached := c.encrypt(t, host)
		agent, memcached = append(agent, ofAgent...), append(memcached, ofMemcached...)
	}
	p.server = memcachedtest.Start(t, memcached...)
	p.showProcess(t, c)
	p.hook = []string{"end", "--health-probe-bind-address=" + p.options.ProbeAddress}
	p.startSupervisor(t, exec.Command(c.supervisor, agent...))
	return p
}

// encrypt mounts the certificate, and returns the arguments for TLS of the agent and of memcached.
func (c *cache) encrypt(t *testing.T, host string) (agent, memcached []string) {
	t.Helper()
	dir, secret := t.TempDir(), c.certificate.Secret()
	secret["ca.crt"] = c.ca.PEM
	agenttest.Mount(t, dir, secret)
	options := fmt.Sprintf("--extended=ssl_chain_cert=%[1]s/tls.crt,ssl_key=%[1]s/tls.key", dir)
	tlsAddress := net.JoinHostPort(host, c.tlsPort)
	agent = []string{"--tls-dir=" + dir, "--memcached-tls-address=" + tlsAddress}
	if c.requireCertificates {
		options += fmt.Sprintf(",ssl_verify_mode=2,ssl_ca_cert=%s/ca.crt", dir)
		agent = append(agent, "--client-ca")
	}
	plaintext := "--listen=notls:" + net.JoinHostPort(host, c.plaintextPort)
	return agent, []string{"--enable-ssl", options, plaintext, "--listen=" + tlsAddress}
}

// showProcess shows memcached's process to the agent under the name that the process has in a Pod, because its name may
// be different in these tests.
func (p *slotPod) showProcess(t *testing.T, c *cache) {
	t.Helper()
	answer, err := p.client(t, c).ask("stats\r\n", 1)
	pid, ok := strings.CutPrefix(answer, "STAT pid ")
	if err != nil || !ok {
		t.Fatalf("%s: %v", answer, err)
	}
	dir := filepath.Join(p.options.Proc, pid)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "comm"), []byte("memcached\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-p.server.Ended()
		_ = os.RemoveAll(dir)
	}()
}

func (p *slotPod) startSupervisor(t *testing.T, supervisor *exec.Cmd) {
	t.Helper()
	supervisor.Stdout, supervisor.Stderr = p.log, p.log
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- supervisor.Wait() }()
	t.Cleanup(func() {
		_ = supervisor.Process.Kill()
		if t.Failed() {
			t.Logf("log of the agent at %s:\n%s", p.host, p.log)
		}
	})
	wait(t).Eventually(func() (int, error) { return p.status("/healthz") }).Should(gomega.Equal(http.StatusOK))
}

// client returns a client that connects to memcached from within the Pod, and logs in if the cache has users.
func (p *slotPod) client(t *testing.T, c *cache) *client {
	t.Helper()
	if user, password, ok := strings.Cut(strings.SplitN(c.users, "\n", 2)[0], ":"); ok {
		return mustLogin(t, p.options.MemcachedAddress, nil, user, password)
	}
	client, err := connect(t, p.options.MemcachedAddress, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// instruct writes the annotation, as the operator and the kubelet do.
func (p *slotPod) instruct(t *testing.T, i instruction.Instruction) {
	t.Helper()
	if i.Role != instruction.None {
		i.Slot, i.Since = "shop-0", time.Now()
	}
	agenttest.Mount(t, p.dir, map[string]string{"handoff": i.Encode()})
}

func (p *slotPod) awaitReady(t *testing.T, want int) {
	t.Helper()
	wait(t).Eventually(func() (int, error) { return p.status("/ready") }).Should(gomega.Equal(want))
}

// progress is what a line of the log says about a handoff.
type progress struct {
	Msg, Slot, From              string
	Keys, TotalKeys, Invalidated int64
	Copied                       bool
	Emptied                      string
}

// lastProgress returns the progress in the last line of the agent's log that has some.
func (p *slotPod) lastProgress() (last progress) {
	for line := range strings.Lines(p.log.String()) {
		var next progress
		if json.Unmarshal([]byte(line), &next) == nil && next.Msg == "handoff" {
			last = next
		}
	}
	return last
}
