package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/operator/internal/observe"
)

func TestProblemsOfUnschedulablePods(t *testing.T) {
	const scheduler = "cannot be scheduled: 0/4 nodes are available"
	unschedulable := observe.Pod{Unschedulable: true, Problem: scheduler}
	tests := map[string]struct {
		architectures []string
		inCluster     observe.Nodes
		pods          []observe.Pod
		want          string
	}{
		"no Node has the one architecture": {
			architectures: []string{"s390x"}, inCluster: observe.Nodes{"arm64": 1, "amd64": 3},
			pods: []observe.Pod{unschedulable, unschedulable},
			want: "2 Pods: cannot be scheduled: no Node has the architecture s390x; available: amd64 (3), arm64 (1)",
		},
		"no Node has one of several": {
			architectures: []string{"ppc64le", "s390x"}, inCluster: observe.Nodes{"amd64": 3},
			pods: []observe.Pod{unschedulable},
			want: "1 Pod: cannot be scheduled: no Node has one of the architectures ppc64le, s390x; available: amd64 (3)",
		},
		"the Nodes of the architecture have no Linux": {
			architectures: []string{"amd64"}, inCluster: observe.Nodes{"amd64 with windows": 2},
			pods: []observe.Pod{unschedulable},
			want: "1 Pod: cannot be scheduled: no Node has the architecture amd64; available: amd64 with windows (2)",
		},
		"the cluster has no Nodes": {
			architectures: []string{"amd64"}, inCluster: observe.Nodes{}, pods: []observe.Pod{unschedulable},
			want: "1 Pod: cannot be scheduled: no Node has the architecture amd64; the cluster has no Nodes",
		},
		"a Node of one of them exists and is full, which the scheduler reports": {
			architectures: []string{"amd64", "s390x"}, inCluster: observe.Nodes{"amd64": 3},
			pods: []observe.Pod{unschedulable}, want: "1 Pod: " + scheduler,
		},
		"the Nodes are unknown": {
			architectures: []string{"s390x"}, pods: []observe.Pod{unschedulable}, want: "1 Pod: " + scheduler,
		},
		"any architecture will do": {
			inCluster: observe.Nodes{"amd64 with windows": 1}, pods: []observe.Pod{unschedulable}, want: "1 Pod: " + scheduler,
		},
		"a Pod with a Node keeps its own problem": {
			architectures: []string{"s390x"}, inCluster: observe.Nodes{"amd64": 3},
			pods: []observe.Pod{{Problem: "is odd"}, unschedulable, unschedulable},
			want: "2 Pods: cannot be scheduled: no Node has the architecture s390x; available: amd64 (3); " +
				"1 Pod: is odd",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := rolledOut()
			in.Plan.Architectures, in.Nodes, in.Snapshot.Pods = tc.architectures, tc.inCluster, tc.pods
			if diff := cmp.Diff(tc.want, problemsOf(in)); diff != "" {
				t.Errorf("trouble (-want +got):\n%s", diff)
			}
		})
	}
}
