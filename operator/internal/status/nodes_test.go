package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

func TestTroubleOfNodesWithoutAMachine(t *testing.T) {
	const scheduler = "cannot be scheduled: 0/4 nodes are available"
	unplaced := observe.Pod{Unschedulable: true, Problem: scheduler}
	tests := map[string]struct {
		architectures []string
		machines      observe.Nodes
		nodes         []observe.Pod
		want          string
	}{
		"no machine has the one architecture": {
			architectures: []string{"s390x"}, machines: observe.Nodes{"arm64": 1, "amd64": 3},
			nodes: []observe.Pod{unplaced, unplaced},
			want:  "2 Pods: cannot be scheduled: no Node has the architecture s390x; available: amd64 (3), arm64 (1)",
		},
		"no machine has one of several": {
			architectures: []string{"ppc64le", "s390x"}, machines: observe.Nodes{"amd64": 3},
			nodes: []observe.Pod{unplaced},
			want:  "1 Pod: cannot be scheduled: no Node has one of the architectures ppc64le, s390x; available: amd64 (3)",
		},
		"the machines of the architecture have no Linux": {
			architectures: []string{"amd64"}, machines: observe.Nodes{"amd64 with windows": 2},
			nodes: []observe.Pod{unplaced},
			want:  "1 Pod: cannot be scheduled: no Node has the architecture amd64; available: amd64 with windows (2)",
		},
		"the cluster has no machine": {
			architectures: []string{"amd64"}, machines: observe.Nodes{}, nodes: []observe.Pod{unplaced},
			want: "1 Pod: cannot be scheduled: no Node has the architecture amd64; the cluster has no Nodes",
		},
		"a machine of one of them is there and not free, which the scheduler knows better": {
			architectures: []string{"amd64", "s390x"}, machines: observe.Nodes{"amd64": 3},
			nodes: []observe.Pod{unplaced}, want: "1 Pod: " + scheduler,
		},
		"the machines are not known": {
			architectures: []string{"s390x"}, nodes: []observe.Pod{unplaced}, want: "1 Pod: " + scheduler,
		},
		"any architecture will do": {
			machines: observe.Nodes{"amd64 with windows": 1}, nodes: []observe.Pod{unplaced}, want: "1 Pod: " + scheduler,
		},
		"a node that has a machine keeps its own trouble": {
			architectures: []string{"s390x"}, machines: observe.Nodes{"amd64": 3},
			nodes: []observe.Pod{{Problem: "is odd"}, unplaced, unplaced},
			want: "2 Pods: cannot be scheduled: no Node has the architecture s390x; available: amd64 (3); " +
				"1 Pod: is odd",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			in.Plan.Architectures, in.Nodes, in.Snapshot.Pods = tc.architectures, tc.machines, tc.nodes
			if diff := cmp.Diff(tc.want, problemsOf(in)); diff != "" {
				t.Errorf("trouble (-want +got):\n%s", diff)
			}
		})
	}
}
