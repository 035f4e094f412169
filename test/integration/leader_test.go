package integration

import (
	"syscall"
	"testing"

	"github.com/onsi/gomega"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"

	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// TestOfTwoOperatorsOneWorksAndTheOtherTakesOver also checks that neither operator writes what the other one has
// already written.
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
	w.becomesReady(standby) // Before it leads, it caches only the kinds of objects that it already needs.
	before := w.quiet()
	w.Expect(count(before, "patch deployments")).To(gomega.Equal(1))
	w.Expect(count(before, "patch services")).To(gomega.Equal(1))

	// The first operator releases its Lease when it is terminated, so the second one need not wait until the Lease
	// expires.
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
