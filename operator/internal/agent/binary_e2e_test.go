//go:build e2e

package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/operator/internal/agent/agenttest"
)

// maxResident is what the agent may take, in KiB.
const maxResident = 15 << 10

// TestTheProgram runs the agent as it is in its image: beside a memcached with TLS and users, whose slab classes are all
// in use. It stays small, tells no password anywhere, and ends in order.
func TestTheProgram(t *testing.T) {
	const password, next = "pa55word-1", "pa55word-2"
	p := &pod{certificate: agenttest.NewCertificate(t, nil), users: "ann:" + password}
	p.prepare(t)
	agent := p.startProgram(t)
	wait(t).Eventually(func() (int, error) { return p.status("/started") }).Should(gomega.Equal(200))
	p.startMemcached(t)
	p.awaitSync(t, "tls", 1)
	c := mustLogin(t, p.options.MemcachedTLSAddress, trust(p.certificate), "ann", password)
	for size := 60; size < 900_000; size += size / 4 {
		c.set(t, fmt.Sprint("key", size), strings.Repeat("x", size))
	}
	for range 100 {
		p.metrics(t)
	}
	resident, peak := memory(t, agent.Process.Pid, "VmRSS"), memory(t, agent.Process.Pid, "VmHWM")
	t.Logf("after 100 scrapes the agent takes %d KiB, at most it took %d KiB", resident, peak)
	if resident > maxResident {
		t.Errorf("the agent takes %d KiB, more than %d", resident, maxResident)
	}
	p.mountUsers(t, "ann:"+next)
	p.awaitSync(t, "auth", 0)
	p.awaitSync(t, "auth", 1)
	p.wantNoPassword(t, agent.Process.Pid, password, next)

	if err := agent.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := agent.Wait(); err != nil || time.Since(start) > 5*time.Second {
		t.Errorf("ended after %s: %v", time.Since(start), err)
	}
	for _, secret := range []string{password, next} {
		if strings.Contains(p.log.String(), secret) {
			t.Error("a password is told by the end of the log")
		}
	}
}

// startProgram builds the agent as its image does, and starts it.
func (p *pod) startProgram(t *testing.T) *exec.Cmd {
	t.Helper()
	program := filepath.Join(t.TempDir(), "agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../cmd/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	agent := exec.Command(program, "--memcached-address="+p.options.MemcachedAddress,
		"--memcached-tls-address="+p.options.MemcachedTLSAddress, "--tls-dir="+p.options.TLSDir,
		"--auth-dir="+p.options.AuthDir, "--proc="+p.options.Proc, "--auth-file="+p.options.AuthFile,
		"--metrics-bind-address="+p.options.MetricsAddress, "--health-probe-bind-address="+p.options.ProbeAddress)
	agent.Stdout, agent.Stderr = p.log, p.log
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill() })
	return agent
}

// wantNoPassword looks wherever others may look.
func (p *pod) wantNoPassword(t *testing.T, pid int, passwords ...string) {
	t.Helper()
	places := map[string]string{"the log": p.log.String(), "metrics": p.metrics(t)}
	for _, file := range []string{"cmdline", "environ", "comm"} {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
		if err != nil {
			t.Fatal(err)
		}
		places[file] = string(content)
	}
	for place, content := range places {
		for _, password := range passwords {
			if strings.Contains(content, password) {
				t.Errorf("a password is told by %s", place)
			}
		}
	}
}

// memory is a line of what the kernel tells of a process, in KiB.
func memory(t *testing.T, pid int, name string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(status)
	if match == nil {
		t.Fatalf("no %s in %s", name, status)
	}
	kib, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib
}
