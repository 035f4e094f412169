//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
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

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// maxResident is the most memory that the agent and its supervisor may use together, in KiB.
const maxResident = 15 << 10

// TestTheProgram runs the agent as it is in its image: next to a memcached with TLS and users, whose slab classes are
// all in use. The test checks that the agent stays small, is started again when it is killed, shows no password
// anywhere, and ends in order.
func TestTheProgram(t *testing.T) {
	const password, next = "pa55word-1", "pa55word-2"
	p := &pod{certificate: agenttest.NewCertificate(t, nil), users: "ann:" + password}
	p.prepare(t)
	supervisor := p.startProgram(t)
	wait(t).Eventually(func() (int, error) { return p.status("/started") }).Should(gomega.Equal(200))
	p.startMemcached(t)
	p.awaitSync(t, "tls", 1)
	c := mustLogin(t, p.options.MemcachedTLSAddress, trust(p.certificate), "ann", password)
	for size := 60; size < 900_000; size += size / 4 {
		c.set(t, fmt.Sprint("key", size), strings.Repeat("x", size))
	}
	p.staysSmall(t, supervisor.Process.Pid)
	p.isStartedAgain(t, supervisor.Process.Pid)
	p.mountUsers(t, "ann:"+next)
	p.awaitSync(t, "auth", 0)
	p.awaitSync(t, "auth", 1)
	p.wantNoPassword(t, supervisor.Process.Pid, password, next)
	p.wantNoPassword(t, agentOf(t, supervisor.Process.Pid), password, next)

	if err := supervisor.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := supervisor.Wait(); err != nil || time.Since(start) > time.Minute {
		t.Errorf("ended after %s: %v", time.Since(start), err)
	}
	for _, secret := range []string{password, next} {
		if strings.Contains(p.log.String(), secret) {
			t.Error("the end of the log contains a password")
		}
	}
}

// staysSmall reads the metrics many times, and then checks how much memory the agent and its supervisor use together.
func (p *pod) staysSmall(t *testing.T, supervisor int) {
	t.Helper()
	agent, sum := agentOf(t, supervisor), 0
	for scrapes := range 1001 {
		p.metrics(t)
		if scrapes == 0 || scrapes == 1000 {
			own, its := memory(t, supervisor, "VmRSS"), memory(t, agent, "VmRSS")
			sum = own + its
			t.Logf("after %d scrapes: %d KiB, of which the supervisor has %d", scrapes, sum, own)
		}
	}
	t.Logf("at most it was %d KiB", memory(t, supervisor, "VmHWM")+memory(t, agent, "VmHWM"))
	if sum > maxResident {
		t.Errorf("that is more than %d KiB", maxResident)
	}
}

// isStartedAgain crashes the agent in two ways: first the kernel kills it, as the kernel does when memory is short, and
// then the Go runtime ends it.
func (p *pod) isStartedAgain(t *testing.T, supervisor int) {
	t.Helper()
	for restarts, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT} {
		if err := syscall.Kill(agentOf(t, supervisor), signal); err != nil {
			t.Fatal(err)
		}
		wait(t).Eventually(func() string { return p.metrics(t) }).Should(gomega.SatisfyAll(
			gomega.ContainSubstring(fmt.Sprintf("\nmemcached_agent_restarts_total %d\n", restarts+1)),
			gomega.ContainSubstring("\nmemcached_up 1\n")))
	}
	p.awaitSync(t, "auth", 1)
}

// TestAnAgentThatCanNotWorkEnds: the agent's supervisor ends with the agent, so that the kubelet reports the error.
func TestAnAgentThatCanNotWorkEnds(t *testing.T) {
	supervisor, agent := buildProgram(t)
	taken := unused.Address(t)
	listener, err := net.Listen("tcp", taken)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	tests := map[string]struct{ flag, want string }{
		"a flag that does not exist": {"--no-such-flag", "unknown flag: --no-such-flag"},
		"a flag that can't be right": {"--memcached-address=192.0.2.1:11211", "set a loopback address"},
		"a port that is taken":       {"--metrics-bind-address=" + taken, "address already in use"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, supervisor, agent, "--health-probe-bind-address=0", tc.flag).CombinedOutput()
			if exit := (&exec.ExitError{}); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), tc.want) {
				t.Errorf("%v, want exit code 1:\n%s", err, out)
			}
		})
	}
	if out, err := exec.CommandContext(t.Context(), supervisor, agent, "--version").CombinedOutput(); err != nil {
		t.Errorf("--version: %v\n%s", err, out)
	}
}

// buildProgram builds the agent and its supervisor as the image does.
func buildProgram(t *testing.T) (supervisor, agent string) {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir,
		"../../cmd/agent", "../../cmd/agent/supervisor")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "supervisor"), filepath.Join(dir, "agent")
}

// startProgram starts the supervisor, which starts the agent.
func (p *pod) startProgram(t *testing.T) *exec.Cmd {
	t.Helper()
	program, agent := buildProgram(t)
	supervisor := exec.Command(program, agent, "--memcached-address="+p.options.MemcachedAddress,
		"--memcached-tls-address="+p.options.MemcachedTLSAddress, "--tls-dir="+p.options.TLSDir,
		"--auth-dir="+p.options.AuthDir, "--proc="+p.options.Proc, "--auth-file="+p.options.AuthFile,
		"--slab-classes", "--metrics-bind-address="+p.options.MetricsAddress, "--health-probe-bind-address="+p.options.ProbeAddress)
	supervisor.Stdout, supervisor.Stderr = p.log, p.log
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = supervisor.Process.Kill() })
	return supervisor
}

// agentOf returns the process id of the agent that the supervisor started.
func agentOf(t *testing.T, supervisor int) int {
	t.Helper()
	processes, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", supervisor))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range processes {
		content, _ := os.ReadFile(file) // threads end in the meantime
		if pid, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil {
			return pid
		}
	}
	t.Fatal("the supervisor has no child process")
	return 0
}

// wantNoPassword fails the test if another process or user could read one of the passwords.
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
				t.Errorf("%s contains a password", place)
			}
		}
	}
}

// memory returns the value of the line with this name in the kernel's report on a process, in KiB.
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
