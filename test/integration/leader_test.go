package integration

import (
	"syscall"
	"testing"

	"github.com/onsi/gomega"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// TestOfTwoOperatorsOneWorksAndTheOtherTakesOver also shows that nothing is written twice on the way.
func TestOfTwoOperatorsOneWorksAndTheOtherTakesOver(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, clusterKubeconfig)
	elect := []string{
		"--watch-namespaces=" + w.namespace, "--leader-elect", "--leader-election-namespace=" + operatorNamespace,
	}
	leader, standby := unused.Address(t), unused.Address(t)
	w.startWith(nil, append(elect, "--health-probe-bind-address="+leader)...)
	first := w.operator
	w.memcached("cache", 2)
	w.ready("cache")
	w.becomesReady(leader)
	w.startWith(nil, append(elect, "--health-probe-bind-address="+standby)...)
	w.becomesReady(standby) // It fills only the caches that it needs before it leads.
	before := w.quiet()
	w.Expect(count(before, "patch deployments")).To(gomega.Equal(1))
	w.Expect(count(before, "patch services")).To(gomega.Equal(1))

	// The first gives the lease back when it ends in order, so the second need not wait for it to run out.
	w.Expect(first.Process.Signal(syscall.SIGTERM)).To(gomega.Succeed())
	w.Expect(first.Wait()).To(gomega.Succeed())
	w.patchSpec(`{"size":3}`)
	w.Expect(w.ready("cache").Status.Nodes).To(gomega.HaveLen(3))

	w.becomesReady(standby)

	after := w.quiet()
	w.Expect(count(after, "patch deployments")).To(gomega.Equal(2), "one write for the new size")
	w.Expect(count(after, "patch services")).To(gomega.Equal(1))
	w.reason("cache", cachev1.ReasonAllPodsReady)
}
