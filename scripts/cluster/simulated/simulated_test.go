package simulated

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// up brings up a cluster without nodes.
func up(t *testing.T, name string) (*Cluster, rundir.Dir) {
	t.Helper()
	cluster, err := Up(t.Context(), Options{Name: name, Attached: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Down(context.WithoutCancel(t.Context())) })
	dir, err := dirOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return cluster, dir
}

func lives(t *testing.T, dir rundir.Dir) bool {
	t.Helper()
	alive, err := groupLives(dir)
	if err != nil {
		t.Fatal(err)
	}
	return alive
}

func TestDownEndsWhatAKilledKeeperLeft(t *testing.T) {
	cluster, dir := up(t, "test-killed")
	if found, err := Find("test-killed"); err != nil || len(found.Processes) != 5 {
		t.Errorf("Find() = %+v, %v, want a cluster of five processes", found, err)
	}
	if err := unix.Kill(cluster.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the keeper is gone", func() bool {
		_, err := Find("test-killed")
		return errors.Is(err, ErrNotRunning)
	})
	if !lives(t, dir) {
		t.Fatal("nothing was left for Down to end")
	}
	if found, err := Down(t.Context(), "test-killed"); !found || err != nil {
		t.Errorf("Down() = %t, %v", found, err)
	}
	for _, process := range cluster.Processes {
		eventually(t, process.Name+" is gone", func() bool { return unix.Kill(process.Pid, 0) != nil })
	}
	if found, err := Down(t.Context(), "test-killed"); found || err != nil {
		t.Errorf("a second Down() = %t, %v", found, err)
	}
}

func TestAClusterEndsAsAWhole(t *testing.T) {
	tests := map[string]func(*Cluster) error{
		"with whoever started it, if that does not let go": func(c *Cluster) error { return c.keeper.Close() },
		"with any of its processes": func(c *Cluster) error {
			return unix.Kill(c.Processes[len(c.Processes)-1].Pid, unix.SIGKILL)
		},
	}
	for name, end := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, dir := up(t, "test-end")
			if err := end(cluster); err != nil {
				t.Fatal(err)
			}
			eventually(t, "no process is left", func() bool { return !lives(t, dir) })
		})
	}
}

func TestObject(t *testing.T) {
	node := Node{
		Name: "one", Labels: map[string]string{"pool": "caches"},
		Taints: []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}},
	}.object()
	if _, labelled := node.Labels[corev1.LabelArchStable]; labelled {
		t.Error("a node without an architecture has the label of one")
	}
	if node.Labels[corev1.LabelOSStable] != "linux" || node.Labels["pool"] != "caches" {
		t.Errorf("labels %v", node.Labels)
	}
	if !isOpen(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: node.Spec, Status: ready()}) {
		t.Error("a node with a taint of its own, ready, is not open")
	}
	tainted := &corev1.Node{Status: ready()}
	tainted.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady}}
	if isOpen(tainted) || isOpen(&corev1.Node{}) {
		t.Error("a node that is not ready is open")
	}
}

func ready() corev1.NodeStatus {
	return corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(stopTimeout + partTimeout)
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("never: %s", what)
		case <-time.After(pollPause):
		}
	}
}
