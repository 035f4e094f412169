//go:build e2e

package local

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestLifecycle needs root and about half a minute, so it is one of the end-to-end tests.
func TestLifecycle(t *testing.T) {
	const name = "lifecycle"
	t.Cleanup(func() { _, _ = Down(context.WithoutCancel(t.Context()), name) })
	cluster := up(t, name)

	t.Run("up again finds the same cluster", func(t *testing.T) {
		if again := up(t, name); again.Created || again.Pid != cluster.Pid {
			t.Errorf("Up() = %+v, want the one with process %d", again, cluster.Pid)
		}
	})
	t.Run("a part that is killed is started again", func(t *testing.T) {
		if err := cluster.Kill("kube-apiserver"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the API server answers", func() bool { return answers(t, cluster) })
	})
	t.Run("a part that is paused hangs until it is resumed", func(t *testing.T) {
		if err := cluster.Pause("kube-apiserver"); err != nil {
			t.Fatal(err)
		}
		if answers(t, cluster) {
			t.Error("it answers")
		}
		if err := cluster.Resume("kube-apiserver"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the API server answers", func() bool { return answers(t, cluster) })
	})
	t.Run("nothing survives the supervisor", func(t *testing.T) {
		if err := syscall.Kill(cluster.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the cluster ended", func() bool {
			_, err := Find(name)
			return errors.Is(err, ErrNotRunning)
		})
	})
	t.Run("up makes a new one after a crash", func(t *testing.T) {
		if again := up(t, name); !again.Created {
			t.Errorf("Up() = %+v, want a new one", again)
		}
	})
	t.Run("down leaves nothing, and down again finds nothing", func(t *testing.T) {
		for _, want := range []bool{true, false} {
			if found, err := Down(t.Context(), name); err != nil || found != want {
				t.Errorf("Down() = %t, %v, want %t", found, err, want)
			}
		}
		groups, err := filepath.Glob("/sys/fs/cgroup/*/memcached-operator-" + name + "-*")
		if err != nil || len(groups) > 0 {
			t.Errorf("control groups are left: %v, %v", groups, err)
		}
	})
}

func up(t *testing.T, name string) *Cluster {
	t.Helper()
	cluster, err := Up(t.Context(), Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

func answers(t *testing.T, cluster *Cluster) bool {
	t.Helper()
	return exec.CommandContext(t.Context(), cluster.Kubectl, "--kubeconfig="+cluster.Kubeconfig, "--request-timeout=1s",
		"get", "--raw=/version").Run() == nil
}
