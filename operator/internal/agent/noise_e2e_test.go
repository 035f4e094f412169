//go:build e2e

package agent

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/agenttest"
)

// maxNoisy is the most memory that the agent and its supervisor may have used together, in KiB. The documentation
// promises it.
const maxNoisy = 20 << 10

// TestNoiseLeavesTheProgramAsSmallAsItWas runs the agent as it is in its image, and sends seeded random bytes to its
// ports.
func TestNoiseLeavesTheProgramAsSmallAsItWas(t *testing.T) {
	const seed, connections = 19, 10_000
	p := &pod{certificate: agenttest.NewCertificate(t, nil), users: "ann:one"}
	p.prepare(t)
	supervisor := p.startProgram(t)
	wait(t).Eventually(func() (int, error) { return p.status("/started") }).Should(gomega.Equal(200))
	p.startMemcached(t)
	p.awaitSync(t, "tls", 1)
	agent := agentOf(t, supervisor.Process.Pid)
	sum := func(name string) int { return memory(t, supervisor.Process.Pid, name) + memory(t, agent, name) }

	makeNoise(t, seed, connections, p.options.MetricsAddress, p.options.ProbeAddress)
	release := hold(t, 200, p.options.MetricsAddress, p.options.ProbeAddress)
	release()

	wait(t).Eventually(func() error { return serves(p.options) }).Should(gomega.Succeed(), "the ports serve again")
	if now := agentOf(t, supervisor.Process.Pid); now != agent {
		t.Errorf("the agent crashed: its process is %d, and was %d", now, agent)
	}
	t.Logf("%d KiB, at most it was %d KiB", sum("VmRSS"), sum("VmHWM"))
	if worst := sum("VmHWM"); worst > maxNoisy {
		t.Errorf("at most it was %d KiB, more than %d", worst, maxNoisy)
	}
}
