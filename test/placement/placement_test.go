//go:build e2e

package placement

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

// test describes the Nodes of a cluster, an operator and a cache, and the expected places of the Pods.
type test struct {
	machines []local.Node
	operand  string // the operator's variable OPERAND_ARCHITECTURES
	narrow   bool   // the operator serves one namespace, and has no rights beyond it
	spec     string
	by       string // the label of the Nodes by which places are counted, instead of the architecture
	want     places
	says     string // what the message in the status must contain
}

const (
	byName = "example.com/machine"
	byZone = corev1.LabelTopologyZone

	// spread allows one more Pod on a Node than on any other Node.
	spread = `"topologySpreadConstraints":[{"topologyKey":"kubernetes.io/hostname","maxSkew":1,` +
		`"whenUnsatisfiable":"DoNotSchedule"}]`
)

// one returns a Node with this architecture, which is also the Node's name, and makes these changes to the Node.
func one(architecture string, changes ...func(*local.Node)) local.Node {
	node := local.Node{Name: architecture, Architecture: architecture, Labels: map[string]string{}}
	for _, change := range changes {
		change(&node)
	}
	return node
}

// all returns plain Nodes of these architectures.
func all(architectures ...string) (nodes []local.Node) {
	for _, architecture := range architectures {
		nodes = append(nodes, one(architecture))
	}
	return nodes
}

func named(name string) func(*local.Node) { return func(n *local.Node) { n.Name = name } }

func labelled(key, value string) func(*local.Node) {
	return func(n *local.Node) { n.Labels[key] = value }
}

func running(system string) func(*local.Node) { return func(n *local.Node) { n.OS = system } }

func tainted(n *local.Node) {
	n.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}}
}

func with(cpu, memory string) func(*local.Node) {
	return func(n *local.Node) { n.Room = local.Room(cpu, memory) }
}

func unlabelled(n *local.Node) { n.Architecture = "" }

func TestPlacement(t *testing.T) {
	tests := map[string]test{
		"a cluster of one architecture": {
			machines: all("s390x"), spec: `{"size":2,"placement":{"architectures":["s390x"]}}`,
			want: places{"s390x": 2}, says: "2 of 2 Pods ready",
		},
		"a cache that names no architecture, in a mixed cluster": {
			machines: all("amd64", "arm64", "ppc64le", "s390x"), spec: `{"size":4,"placement":{` + spread + `}}`,
			want: places{"amd64": 1, "arm64": 1, "ppc64le": 1, "s390x": 1}, says: "4 of 4 Pods ready",
		},
		"one architecture of a mixed cluster": {
			machines: all("amd64", "arm64", "ppc64le", "s390x"), spec: `{"size":3,"placement":{"architectures":["arm64"]}}`,
			want: places{"arm64": 3}, says: "3 of 3 Pods ready",
		},
		"two architectures of a mixed cluster": {
			machines: all("amd64", "arm64", "ppc64le", "s390x"),
			spec:     `{"size":4,"placement":{"architectures":["amd64","s390x"],` + spread + `}}`,
			want:     places{"amd64": 2, "s390x": 2}, says: "4 of 4 Pods ready",
		},
		"the operator's architectures, where the cache names none": {
			machines: all("amd64", "arm64", "ppc64le"), operand: "ppc64le", spec: `{"size":2}`,
			want: places{"ppc64le": 2}, says: "2 of 2 Pods ready",
		},
		"the cache's architectures instead of the operator's": {
			machines: all("amd64", "arm64"), operand: "arm64", spec: `{"size":2,"placement":{"architectures":["amd64"]}}`,
			want: places{"amd64": 2}, says: "2 of 2 Pods ready",
		},
		"preferred by weight": {
			machines: all("amd64", "arm64", "s390x"),
			spec: `{"size":1,"placement":{"preferredArchitectures":[{"architecture":"amd64","weight":10},` +
				`{"architecture":"s390x","weight":90},{"architecture":"arm64","weight":40}]}}`,
			want: places{"s390x": 1}, says: "1 of 1 Pods ready",
		},
		"a preferred architecture that no machine has": {
			machines: all("amd64", "arm64"),
			spec: `{"size":2,"placement":{"architectures":["amd64","s390x"],` +
				`"preferredArchitectures":[{"architecture":"s390x","weight":100}]}}`,
			want: places{"amd64": 2}, says: "2 of 2 Pods ready",
		},
		"a preferred architecture whose machine is tainted": {
			machines: []local.Node{one("amd64"), one("arm64", tainted)},
			spec:     `{"size":2,"placement":{"preferredArchitectures":[{"architecture":"arm64","weight":100}]}}`,
			want:     places{"amd64": 2}, says: "2 of 2 Pods ready",
		},
		"a spread that has to hold, against a preference": {
			machines: all("amd64", "arm64"),
			spec: `{"size":2,"placement":{` + spread + `,` +
				`"preferredArchitectures":[{"architecture":"arm64","weight":100}]}}`,
			want: places{"amd64": 1, "arm64": 1}, says: "2 of 2 Pods ready",
		},
		"the only machine of the architecture is tainted": {
			machines: []local.Node{one("amd64"), one("s390x", tainted)}, spec: `{"size":2,"placement":{"architectures":["s390x"]}}`,
			want: places{nowhere: 2}, says: "2 Pods: cannot be scheduled: 0/2 nodes are available: 1 node(s) didn't match " +
				"Pod's node affinity/selector, 1 node(s) had untolerated taint",
		},
		"a taint that the cache tolerates": {
			machines: []local.Node{one("amd64"), one("s390x", tainted)},
			spec: `{"size":2,"placement":{"architectures":["s390x"],` +
				`"tolerations":[{"key":"dedicated","operator":"Exists"}]}}`,
			want: places{"s390x": 2}, says: "2 of 2 Pods ready",
		},
		"no machine of the architecture": {
			machines: []local.Node{one("amd64"), one("amd64", named("second")), one("arm64")},
			spec:     `{"size":2,"placement":{"architectures":["s390x"]}}`,
			want:     places{nowhere: 2}, says: "0 of 2 Pods ready; 2 Pods: cannot be scheduled: no Node has the " +
				"architecture s390x; available: amd64 (2), arm64 (1)",
		},
		"no machine of any of the architectures": {
			machines: all("amd64"), spec: `{"size":1,"placement":{"architectures":["ppc64le","s390x"]}}`,
			want: places{nowhere: 1}, says: "1 Pod: cannot be scheduled: no Node has one of the architectures " +
				"ppc64le, s390x; available: amd64 (1)",
		},
		"no machine of the operator's architecture": {
			machines: all("amd64"), operand: "arm64", spec: `{"size":1}`,
			want: places{nowhere: 1}, says: "no Node has the architecture arm64; available: amd64 (1)",
		},
		"no machine of the architecture, reported by an operator that may not list them": {
			machines: all("amd64", "arm64"), narrow: true, spec: `{"size":1,"placement":{"architectures":["s390x"]}}`,
			want: places{nowhere: 1}, says: "1 Pod: cannot be scheduled: 0/2 nodes are available: 2 node(s) didn't match " +
				"Pod's node affinity/selector",
		},
		"Windows machines are not used": {
			machines: []local.Node{one("amd64", named("windows"), running("windows")), one("amd64")},
			spec:     `{"size":2}`, by: byName,
			want: places{"amd64": 2}, says: "2 of 2 Pods ready",
		},
		"Windows machines are not of the architecture": {
			machines: []local.Node{one("amd64", running("windows")), one("arm64")},
			spec:     `{"size":1,"placement":{"architectures":["amd64"]}}`,
			want:     places{nowhere: 1},
			says:     "no Node has the architecture amd64; available: amd64 with windows (1), arm64 (1)",
		},
		"a machine without the label of its architecture": {
			machines: []local.Node{one("unlabelled", unlabelled)}, spec: `{"size":1,"placement":{"architectures":["amd64"]}}`,
			want: places{nowhere: 1},
			says: "no Node has the architecture amd64; available: without the label kubernetes.io/arch (1)",
		},
		"a node selector is added to the rule": {
			machines: []local.Node{
				one("amd64", labelled("pool", "caches")), one("amd64", named("other")), one("arm64", labelled("pool", "caches")),
			},
			spec: `{"size":2,"placement":{"architectures":["amd64"],"nodeSelector":{"pool":"caches"}}}`, by: byName,
			want: places{"amd64": 2}, says: "2 of 2 Pods ready",
		},
		"a node selector does not replace the rule": {
			machines: all("amd64", "arm64"),
			spec:     `{"size":1,"placement":{"architectures":["amd64"],"nodeSelector":{"kubernetes.io/arch":"arm64"}}}`,
			want:     places{nowhere: 1}, says: "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector",
		},
		"each alternative of a required affinity gets the rule": {
			machines: []local.Node{
				one("arm64", labelled("pool", "caches")), one("s390x", labelled("disk", "none")),
				one("amd64", labelled("disk", "none")),
			},
			spec: `{"size":2,"placement":{"architectures":["amd64"],"affinity":{"nodeAffinity":{` +
				`"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` +
				`{"matchExpressions":[{"key":"pool","operator":"In","values":["caches"]}]},` +
				`{"matchExpressions":[{"key":"disk","operator":"In","values":["none"]}]}]}}}}}`,
			want: places{"amd64": 2}, says: "2 of 2 Pods ready",
		},
		"spread over the machines of two architectures": {
			machines: []local.Node{one("amd64"), one("amd64", named("second")), one("arm64"), one("s390x")},
			spec:     `{"size":3,"placement":{"architectures":["amd64","arm64"],` + spread + `}}`, by: byName,
			want: places{"amd64": 1, "second": 1, "arm64": 1}, says: "3 of 3 Pods ready",
		},
		"no room on the machine of the architecture": {
			machines: []local.Node{one("amd64"), one("s390x", with("4", "100Mi"))},
			spec:     `{"size":1,"placement":{"architectures":["s390x"]}}`,
			want:     places{nowhere: 1}, says: "1 Pod: cannot be scheduled: 0/2 nodes are available: 1 Insufficient memory",
		},
		"spread over machines without a word, although one has much more room": {
			machines: []local.Node{one("amd64", with("64", "256Gi")), one("arm64"), one("s390x")},
			spec:     `{"size":6}`,
			want:     places{"amd64": 2, "arm64": 2, "s390x": 2}, says: "6 of 6 Pods ready",
		},
		"spread over zones without a word, although one has more machines": {
			machines: []local.Node{
				one("amd64", labelled(byZone, "a")), one("amd64", named("second"), labelled(byZone, "a")),
				one("amd64", named("third"), labelled(byZone, "a")), one("arm64", labelled(byZone, "b")),
				one("s390x", labelled(byZone, "c")),
			},
			spec: `{"size":3}`, by: byZone,
			want: places{"a": 1, "b": 1, "c": 1}, says: "3 of 3 Pods ready",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc)
			w.create(tc.spec)
			w.settles(tc.want, tc.says)
		})
	}
}
