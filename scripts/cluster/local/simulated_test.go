package local

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// simulate starts a cluster without Nodes.
func simulate(t *testing.T, name string) (*Cluster, rundir.Dir) {
	t.Helper()
	cluster, err := Up(t.Context(), Options{Name: name, Simulated: true, Attached: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Down(context.WithoutCancel(t.Context())) })
	dir, err := rundir.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return cluster, dir
}

func TestASimulatedCluster(t *testing.T) {
	const name = "test-simulated"
	cluster, dir := simulate(t, name)
	if found, err := Find(name); err != nil || found.Pid != cluster.Pid {
		t.Errorf("Find() = %v, %v, want process %d", found, err, cluster.Pid)
	}
	node := Node{Name: "one", Architecture: "s390x", Labels: map[string]string{"pool": "caches"}}
	if err := cluster.AddNode(t.Context(), node); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "linux" {
		ended, err := cluster.PidOf("kwok")
		if err := errors.Join(err, cluster.Kill("kwok")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "kwok is started again", func() bool {
			now, err := cluster.PidOf("kwok")
			return err == nil && now != ended
		})
	}
	parts, err := cluster.Parts() // only now, when the ids are those of running processes
	if len(parts) != 5 || err != nil {
		t.Errorf("Parts() = %v, %v, want five", parts, err)
	}
	if err := unix.Kill(cluster.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if lives, err := dir.Lives(); !lives || err != nil {
		t.Fatalf("nothing was left for Down to end: %v", err)
	}
	for _, want := range []bool{true, false} {
		if found, err := Down(t.Context(), name); found != want || err != nil {
			t.Errorf("Down() = %t, %v, want %t", found, err, want)
		}
	}
	for _, part := range parts {
		eventually(t, part.Name+" ended", func() bool { return unix.Kill(part.Pid, 0) != nil })
	}
}

func TestAnAttachedClusterEndsWithWhoeverStartedIt(t *testing.T) {
	cluster, dir := simulate(t, "test-attached")
	if err := cluster.attached.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no process is left", func() bool {
		lives, err := dir.Lives()
		return err == nil && !lives
	})
	if _, err := Find("test-attached"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Find() = %v, want ErrNotRunning", err)
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
