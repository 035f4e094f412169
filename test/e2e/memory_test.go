//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/pressure"
)

// TestTheMemoryLimitOfAPodHolds brings the defaults of a real Pod to their worst case. The other settings have tests
// beside the sum, in operator/internal/memcached.
func TestTheMemoryLimitOfAPodHolds(t *testing.T) {
	c.shared(t)
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
	err = inNetworkOf(c.pid(t, "kubelet"), func() error {
		_, err := load.Bear(t.Context())
		return err
	})
	it.Expect(err).NotTo(gomega.HaveOccurred())
	figures, err := group.Judge()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	t.Log(figures)
}

// processOf finds a process of a Pod, all of whose Pods run on this machine.
func processOf(t *testing.T, pod *corev1.Pod, name string) int {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range commands {
		command, _ := os.ReadFile(file) // Processes end meanwhile.
		groups, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cgroup"))
		if strings.TrimSpace(string(command)) == name && strings.Contains(string(groups), string(pod.UID)) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("Pod %s has no process %s", pod.Name, name)
	return 0
}

// inNetworkOf does something in the network of a process, which has to be done in one goroutine.
func inNetworkOf(pid int, do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // For good: the thread ends with the goroutine.
		network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err == nil {
			defer network.Close()
			err = unix.Setns(int(network.Fd()), unix.CLONE_NEWNET)
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}
