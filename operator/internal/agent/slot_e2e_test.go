//go:build e2e

package agent

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

var fromOld = instruction.Instruction{Role: instruction.Receive, From: oldHost, Rate: 32 << 20}

// TestAPodTakesOverTheKeysOfAnother acts as the operator: it writes each instruction, and waits for the same progress
// as the operator would.
func TestAPodTakesOverTheKeysOfAnother(t *testing.T) {
	c := newCache(t, cache{})
	before, after := c.start(t, oldHost), c.start(t, newHost)
	from, to := before.client(t, c), after.client(t, c)
	fill(t, from)
	to.set(t, "outdated", "x")
	before.awaitReady(t, http.StatusServiceUnavailable)
	before.instruct(t, instruction.Instruction{Role: instruction.Serve})
	before.awaitReady(t, http.StatusOK)
	after.awaitReady(t, http.StatusServiceUnavailable)

	after.instruct(t, fromOld)
	after.awaitReady(t, http.StatusOK)
	wantAll(t, to)
	to.awaitMiss(t, "outdated")

	after.instruct(t, instruction.Instruction{Role: instruction.Moved, From: oldHost})
	from.set(t, "key1", "newer in the old Pod")
	to.set(t, "key2", "newer in the new Pod")
	to.awaitMiss(t, "key1")
	from.awaitMiss(t, "key2")
	to.want(t, "key2", "newer in the new Pod")

	before.instruct(t, instruction.Instruction{Role: instruction.Leave, End: 1})
	wait(t).Eventually(before.server.Ended()).Should(gomega.BeClosed())
	wait(t).Eventually(func() int64 { return after.lastProgress().Invalidated }).Should(gomega.BeNumerically(">=", 2))
	before.awaitReady(t, http.StatusOK)

	after.instruct(t, instruction.Instruction{Role: instruction.Serve})
	after.awaitReady(t, http.StatusOK)
	to.want(t, "key0", "value0")
	to.want(t, "key999", "value999")
	metrics := after.metrics(t)
	if got := value(t, metrics, "memcached_agent_handoff_keys_total"); got != keys {
		t.Errorf("%g keys", got)
	}
	if got := value(t, metrics, "memcached_agent_handoff_progress_ratio"); got != 1 {
		t.Errorf("progress %v", got)
	}
	if got := value(t, metrics, "memcached_agent_handoff_failures_total"); got != 0 {
		t.Errorf("%g failures", got)
	}
	p := after.lastProgress()
	p.Invalidated = 0
	if diff := cmp.Diff(progress{Msg: "handoff", Slot: "shop-0", From: oldHost, Keys: keys, TotalKeys: keys, Copied: true}, p); diff != "" {
		t.Errorf("the last progress (-want +got):\n%s", diff)
	}
}

// TestWhatAFullPodEvictsAfterACopySaysNothing: the ages of these items do not show how long items stay, because
// memcached counts copied keys as just used.
func TestWhatAFullPodEvictsAfterACopySaysNothing(t *testing.T) {
	c := newCache(t, cache{memory: "8"})
	before, after := c.start(t, oldHost), c.start(t, newHost)
	from, to, large := before.client(t, c), after.client(t, c), strings.Repeat("x", 8<<10)
	before.instruct(t, instruction.Instruction{Role: instruction.Serve})
	store := func(client *client, kind string, count int) {
		for number := range count {
			client.set(t, fmt.Sprintf("%s%d", kind, number), large)
		}
	}
	store(from, "before", 1500)
	wait(t).Eventually(func() float64 { // Some time must pass between the agent's start and the copy.
		return value(t, after.metrics(t), "memcached_uptime_seconds")
	}).Should(gomega.BeNumerically(">=", 6))
	after.instruct(t, fromOld)
	after.awaitReady(t, http.StatusOK)
	if _, err := after.usage(usage.WithoutCurve); err != nil {
		t.Fatal(err)
	}
	store(to, "after", 300)
	wait(t).Eventually(func() (bool, error) {
		report, err := after.usage(usage.WithoutCurve)
		if report.Evicting {
			t.Errorf("it says that items stay for %d s", report.EvictedAge)
		}
		return report.EvictingCopied, err
	}).Should(gomega.BeTrue())
}

func TestThePreStopHookEndsMemcachedInOrder(t *testing.T) {
	for name, list := range map[string]string{"without users": "", "with users": "ann:one"} {
		t.Run(name, func(t *testing.T) {
			c := newCache(t, cache{users: list})
			before, after := c.start(t, oldHost), c.start(t, newHost)
			from, to := before.client(t, c), after.client(t, c)
			fill(t, from)
			after.instruct(t, fromOld)
			after.awaitReady(t, http.StatusOK)
			after.instruct(t, instruction.Instruction{Role: instruction.Moved, From: oldHost})
			from.set(t, "key1", "newer in the old Pod")
			for range 2 { // The second connection finds no memcached.
				out, err := exec.CommandContext(t.Context(), c.agent, before.hook...).CombinedOutput()
				if err != nil {
					t.Fatalf("%v:\n%s", err, out)
				}
				wait(t).Eventually(before.server.Ended()).Should(gomega.BeClosed())
			}
			after.instruct(t, instruction.Instruction{Role: instruction.Serve})
			wait(t).Eventually(func() string { return after.log.String() }).Should(gomega.ContainSubstring(`"role":"serve"`))
			to.awaitMiss(t, "key1")
			to.want(t, "key0", "value0")
			to.want(t, "key999", "value999")
		})
	}
}

func TestAColdPodIsEmptied(t *testing.T) {
	c := newCache(t, cache{})
	p := c.start(t, newHost)
	client := p.client(t, c)
	client.set(t, "key", "value")
	p.instruct(t, instruction.Instruction{Role: instruction.Cold})
	p.awaitReady(t, http.StatusOK)
	client.awaitMiss(t, "key")
}

// TestKeysMoveInEveryMode copies keys with and without TLS and users on the clients' port.
func TestKeysMoveInEveryMode(t *testing.T) {
	ca := agenttest.NewCertificate(t, nil)
	certificate := agenttest.NewCertificate(t, ca)
	tests := map[string]cache{
		"users":                {users: "ann:one\nbob:two"},
		"TLS":                  {certificate: certificate, ca: ca},
		"TLS and users":        {certificate: certificate, ca: ca, users: "ann:one"},
		"mutual TLS":           {certificate: certificate, ca: ca, requireCertificates: true},
		"mutual TLS and users": {certificate: certificate, ca: ca, requireCertificates: true, users: "ann:one"},
	}
	for name, mode := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCache(t, mode)
			before, after := c.start(t, oldHost), c.start(t, newHost)
			fill(t, before.client(t, c))
			after.instruct(t, fromOld)
			after.awaitReady(t, http.StatusOK)
			wantAll(t, after.client(t, c))
		})
	}
}

// TestACopyThatFailsEndsTheContainer checks the reason in the termination message, which the operator reads.
func TestACopyThatFailsEndsTheContainer(t *testing.T) {
	ca := agenttest.NewCertificate(t, nil)
	forServers := agenttest.NewCertificateWith(t, ca, func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	})
	tests := map[string]struct {
		cache
		change func(*cache) // changes the new Pod
		from   string
		want   string
	}{
		"no memcached":                 {from: noHost, want: "OldUnreachable"},
		"other users":                  {cache: cache{users: "ann:one"}, change: func(c *cache) { c.users = "ann:two" }, from: oldHost, want: peer.LoginRefused},
		"a certificate for servers":    {cache: cache{certificate: forServers, ca: ca, requireCertificates: true}, from: oldHost, want: peer.ClientCertificateRefused},
		"a certificate of another one": {cache: cache{certificate: forServers, ca: ca}, change: otherCertificate(t), from: oldHost, want: peer.ServerCertificateUnknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCache(t, test.cache)
			c.start(t, oldHost)
			if test.change != nil {
				test.change(c)
			}
			p := c.start(t, newHost)
			p.instruct(t, instruction.Instruction{Role: instruction.Receive, From: test.from})
			var exit *exec.ExitError
			select {
			case err := <-p.ended:
				if !errors.As(err, &exit) || exit.ExitCode() != instruction.ExitCode {
					t.Errorf("ended: %v", err)
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("the agent has not ended")
			}
			if failure, ok := instruction.DecodeFailure(p.log.String()); !ok || failure.Reason != test.want {
				t.Errorf("%+v, want the reason %s", failure, test.want)
			}
		})
	}
}

func otherCertificate(t *testing.T) func(*cache) {
	t.Helper()
	ca := agenttest.NewCertificate(t, nil)
	certificate := agenttest.NewCertificate(t, ca)
	return func(c *cache) { c.certificate, c.ca = certificate, ca }
}

// TestAnAgentThatStartsAfterTheMoveEmptiesBothPods: the agent empties them because it missed what clients changed in
// the meantime.
func TestAnAgentThatStartsAfterTheMoveEmptiesBothPods(t *testing.T) {
	c := newCache(t, cache{})
	before, after := c.start(t, oldHost), c.start(t, newHost)
	from, to := before.client(t, c), after.client(t, c)
	from.set(t, "key", "old")
	to.set(t, "key", "new")
	after.instruct(t, instruction.Instruction{Role: instruction.Moved, From: oldHost})
	after.awaitReady(t, http.StatusOK)
	from.awaitMiss(t, "key")
	to.awaitMiss(t, "key")
	for i := range 10 {
		key := fmt.Sprint("key", i)
		to.set(t, key, "first")
		from.set(t, key, "second")
		to.awaitMiss(t, key)
	}
	before.server.Signal(t, syscall.SIGKILL)
	after.awaitLoss(t, handoff.AgentRestarted)
}

// TestTheOperatorLearnsWhyCopiedKeysAreLost: it learns this even if the agent has restarted.
func TestTheOperatorLearnsWhyCopiedKeysAreLost(t *testing.T) {
	c := newCache(t, cache{})
	before, after := c.start(t, oldHost), c.start(t, newHost)
	to := after.client(t, c)
	fill(t, before.client(t, c))
	after.instruct(t, fromOld)
	after.awaitReady(t, http.StatusOK)
	after.instruct(t, instruction.Instruction{Role: instruction.Moved, From: oldHost})
	if lost := after.lastProgress().Emptied; lost != "" {
		t.Errorf("the keys are there, and the agent says %s", lost)
	}
	before.server.Signal(t, syscall.SIGKILL)
	to.awaitMiss(t, "key0")
	after.awaitLoss(t, handoff.OldEnded)
	wait(t).Eventually(func() int64 { return after.lastProgress().TotalKeys }).Should(gomega.BeZero(), "it begins again")
	after.awaitLoss(t, handoff.OldEnded)
}

func (p *slotPod) awaitLoss(t *testing.T, reason string) {
	t.Helper()
	wait(t).Eventually(func() string { return p.lastProgress().Emptied }).Should(gomega.Equal(reason))
}

// awaitMiss waits until a key is missing. It reads with a meta command, because memcached answers such a command with
// one line if the key is missing.
func (c *client) awaitMiss(t *testing.T, key string) {
	t.Helper()
	wait(t).Eventually(func() (string, error) { return c.ask("mg "+key+"\r\n", 1) }).Should(gomega.Equal("EN"))
}
