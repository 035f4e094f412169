//go:build e2e

package e2e

import (
	"net"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/proc"
	"github.com/example-inc/memcached-operator/internal/testing/soak"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/pressure"
)

// TestTheMemoryLimitOfAPodHolds makes a real Pod with the default settings use as much memory as it ever can. Tests of
// other settings are next to the computation of the limit, in operator/internal/memcached.
func TestTheMemoryLimitOfAPodHolds(t *testing.T) {
	soak.Only(t, "the tests of operator/internal/memcached fill a memcached in a control group")
	c.loaded(t)
	it := newCache(t, "memory", cachev1.MemcachedSpec{})
	it.says(cachev1.ReasonAllPodsReady, "1 of 1 Pods ready")
	pods := &corev1.PodList{}
	it.Expect(c.Client.List(t.Context(), pods, client.InNamespace(it.key.Namespace))).To(gomega.Succeed())
	it.Expect(pods.Items).To(gomega.HaveLen(1))
	pod := pods.Items[0]

	group, err := pressure.GroupOf(processOf(t, &pod, "memcached"))
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(group.CountSockets()).To(gomega.Succeed())
	load := pressure.Load{
		Address:    net.JoinHostPort(pod.Status.PodIP, "11211"),
		ItemMemory: 64 << 20, Connections: 1024, MaxItemSize: 1 << 20,
	}
	err = proc.InNetworkOf(c.pid(t, "kubelet"), func() error {
		_, err := load.Bear(t.Context())
		return err
	})
	it.Expect(err).NotTo(gomega.HaveOccurred())
	figures, err := group.Judge()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	t.Log(figures)
}

// processOf finds a process of a Pod. All Pods of the cluster run on this machine.
func processOf(t *testing.T, pod *corev1.Pod, name string) int {
	t.Helper()
	pid, err := proc.OfPod(pod.UID, name)
	if err != nil {
		t.Fatal(err)
	}
	if pid == 0 {
		t.Fatalf("Pod %s has no process %s", pod.Name, name)
	}
	return pid
}
