//go:build e2e

package bootstrap

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
)

const keys = 500

// slots is the option with which a memcached in a slot is started.
const slots = "--extended=worker_logbuf_size=8192,watcher_logbuf_size=16384"

func pair(t *testing.T, from, to *security) (old, next *servers) {
	t.Helper()
	old = startServers(t, clienthash.Ketama, 3, from)
	next = startServers(t, clienthash.Rendezvous, 2, to, slots)
	for n := range keys {
		old.set(t, fmt.Sprintf("key-%d", n), "value")
	}
	return old, next
}

func (s *servers) count(t *testing.T) (found int) {
	t.Helper()
	for n := range keys {
		if s.has(t, fmt.Sprintf("key-%d", n)) {
			found++
		}
	}
	return found
}

func TestACacheIsFilledFollowsAndIsCutOver(t *testing.T) {
	for name, sides := range map[string][2]security{
		"in plaintext": {},
		"with TLS and login on both sides": {
			{ca: agenttest.NewCertificate(t, nil), user: "anneliese", password: "correct-horse"},
			{ca: agenttest.NewCertificate(t, nil), user: "bob", password: "battery-staple"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := sides[0], sides[1]
			old, next := pair(t, &from, &to)
			p := newProgram(t, old, next)
			p.FromTLSDir, p.FromAuthDir, p.TLSDir, p.AuthDir = from.tlsDir, from.authDir, to.tlsDir, to.authDir
			p.start(t)
			p.becomes(t, "/healthz")
			p.becomes(t, "/started")
			if got := next.count(t); got != keys {
				t.Errorf("the cache has %d of %d keys", got, keys)
			}
			old.set(t, "later", "follows")
			next.holds(t, "later", len("follows"))
			if code, text := p.get(p.ProbeAddress + "/ready"); code != http.StatusServiceUnavailable {
				t.Errorf("before the cutover: %d %s", code, text)
			}
			p.instruct(t, "cutOver\n")
			p.becomes(t, "/ready")
			if !wasCopied(p.StateFile) {
				t.Error("the cutover is not remembered")
			}
			next.set(t, "later", "by a client that has moved")
			old.holds(t, "later", 0)
			old.set(t, "later", "by another one")
			next.holds(t, "later", 0)
			p.instruct(t, "follow")
			gomega.NewWithT(t).Consistently(func() int {
				code, _ := p.get(p.ProbeAddress + "/ready")
				return code
			}).WithTimeout(2*interval).Should(gomega.Equal(http.StatusOK), "it never goes back")
			_, metrics := p.get(p.MetricsAddress + "/metrics")
			for _, want := range []string{
				"memcached_agent_handoff_progress_ratio 1\n", "memcached_agent_handoff_failures_total 0\n",
				`memcached_agent_build_info{version="1.2.3"} 1`,
			} {
				if !strings.Contains(metrics, want) {
					t.Errorf("no %s in\n%s", want, metrics)
				}
			}
			p.stop()
			if err := p.end(t); err != nil {
				t.Errorf("after SIGTERM: %v", err)
			}
			for _, secret := range []string{"anneliese", "bob", "correct-horse", "battery-staple"} {
				if strings.Contains(p.log.String(), secret) {
					t.Errorf("%q is in the log", secret)
				}
			}
		})
	}
}

func TestWithoutAFileItIsCutOverAsSoonAsAllIsCopied(t *testing.T) {
	t.Parallel()
	old, next := pair(t, &security{}, &security{})
	p := newProgram(t, old, next)
	p.PhaseFile = ""
	p.start(t)
	p.becomes(t, "/ready")
	if got := next.count(t); got != keys {
		t.Errorf("the cache has %d of %d keys", got, keys)
	}
}

// TestARestartBeforeTheCutoverBeginsAgain checks that the second start removes the keys that the first start had
// copied.
func TestARestartBeforeTheCutoverBeginsAgain(t *testing.T) {
	t.Parallel()
	old, next := pair(t, &security{}, &security{})
	p := newProgram(t, old, next)
	p.start(t)
	p.becomes(t, "/started")
	p.stop()
	if err := p.end(t); err != nil {
		t.Fatal(err)
	}
	next.set(t, "outdated", "x")
	p.instruct(t, "cutOver")
	p.start(t)
	p.becomes(t, "/ready")
	next.holds(t, "outdated", 0)
	if got := next.count(t); got != keys {
		t.Errorf("the cache has %d of %d keys", got, keys)
	}
}

// TestARestartAfterTheCutoverCopiesNothing: the program copies nothing, because it does not know what clients changed
// in the meantime. It runs even if an old server has ended.
func TestARestartAfterTheCutoverCopiesNothing(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*testing.T, *program){
		"of the container":      func(*testing.T, *program) {},
		"in a Pod that resumes": func(t *testing.T, p *program) { p.instruct(t, "moved"); _ = os.Remove(p.StateFile) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := pair(t, &security{}, &security{})
			p := newProgram(t, old, next)
			p.instruct(t, "cutOver")
			p.start(t)
			p.becomes(t, "/ready")
			p.stop()
			_ = p.end(t)
			old.running[0].Signal(t, syscall.SIGKILL)
			<-old.running[0].Ended()
			key := "key"
			for n := 0; old.choose([]byte(key)) == 0; n++ {
				key = fmt.Sprintf("key-%d", n)
			}
			old.set(t, key, "changed while nobody followed")
			again(t, p)
			p.start(t)
			p.becomes(t, "/started")
			p.becomes(t, "/ready")
			if got := next.count(t); got != 0 || next.has(t, key) || old.has(t, key) {
				t.Errorf("when it is ready, the cache has %d keys; %q here: %v, there: %v", got, key, next.has(t, key), old.has(t, key))
			}
			gomega.NewWithT(t).Eventually(func() int { // The program removes all keys, and then follows changes.
				old.set(t, key, "by a client of the old servers")
				next.set(t, key, "x")
				<-time.After(200 * time.Millisecond)
				return map[bool]int{true: 1}[old.has(t, key)]
			}).WithTimeout(time.Minute).Should(gomega.BeZero())
		})
	}
}

func TestWhenAllOldServersHaveEndedItStaysReady(t *testing.T) {
	t.Parallel()
	old, next := pair(t, &security{}, &security{})
	p := newProgram(t, old, next)
	p.instruct(t, "cutOver")
	p.start(t)
	p.becomes(t, "/ready")
	for _, server := range old.running {
		server.Signal(t, syscall.SIGTERM)
	}
	g := gomega.NewWithT(t)
	const line = "All old memcacheds have ended"
	g.Eventually(p.log.String).WithTimeout(time.Minute).Should(gomega.ContainSubstring(line))
	next.set(t, "new", "x")
	g.Consistently(p.ended).WithTimeout(6 * time.Second).ShouldNot(gomega.Receive())
	if got := strings.Count(p.log.String(), line); got != 1 {
		t.Errorf("it is logged %d times", got)
	}
	p.becomes(t, "/ready")
	next.holds(t, "new", 1)
}

func TestAnOldServerThatCannotBeCopiedIsNamed(t *testing.T) {
	t.Parallel()
	ca := agenttest.NewCertificate(t, nil)
	for name, tc := range map[string]struct {
		from         security
		change       func(t *testing.T, p *program, old *servers)
		reason, text string // without the server
	}{
		"it forbids dumps": {
			change: func(t *testing.T, p *program, old *servers) {
				old.running[1].Signal(t, syscall.SIGKILL)
				<-old.running[1].Ended()
				memcachedtest.StartAt(t, p.From[1], "-X")
			},
			reason: "DumpForbidden", text: "start it without -X and -W and with its LRU crawler, or begin with an empty cache",
		},
		"it does not run": {
			change: func(t *testing.T, _ *program, old *servers) { old.running[1].Signal(t, syscall.SIGKILL) },
			reason: "OldUnreachable", text: "check its address",
		},
		"its user is another one": {
			from: security{user: "anneliese", password: "correct-horse"},
			change: func(t *testing.T, p *program, _ *servers) {
				p.FromAuthDir = t.TempDir()
				agenttest.Mount(t, p.FromAuthDir, map[string]string{"users": "evelyn:battery-staple"})
			},
			reason: "LoginRefused", text: "set a user of this server",
		},
		"its certificate is by another CA": {
			from: security{ca: ca},
			change: func(t *testing.T, p *program, _ *servers) {
				p.FromTLSDir = t.TempDir()
				agenttest.Mount(t, p.FromTLSDir, map[string]string{"ca.crt": agenttest.NewCertificate(t, nil).PEM})
			},
			reason: "ServerCertificateUnknown", text: "set the CA of this server in ca.crt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := pair(t, &tc.from, &security{})
			p := newProgram(t, old, next)
			p.FromTLSDir, p.FromAuthDir = tc.from.tlsDir, tc.from.authDir
			tc.change(t, p, old)
			p.start(t)
			failure, ok := report.FailureOf(p.end(t))
			if diff := cmp.Diff(tc.reason, failure.Reason); !ok || diff != "" {
				t.Errorf("%v (-want +got):\n%s", ok, diff)
			}
			if !strings.Contains(failure.Error, p.From[0]) && !strings.Contains(failure.Error, p.From[1]) {
				t.Errorf("no server in %q", failure.Error)
			}
			if !strings.Contains(failure.Error, tc.text) || strings.Contains(failure.Error, "anneliese") || strings.Contains(failure.Error, "evelyn") {
				t.Errorf("text %q", failure.Error)
			}
			t.Log(failure.Error)
		})
	}
}
