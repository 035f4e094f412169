package supervisor

// node is a real Node: a containerd and a kubelet. All Nodes share the network of the cluster, and one kube-proxy.
type node struct {
	Name, IP   string
	Suffix     string // suffix of the names of its processes, files and folders
	RunDir     string // run directory of containerd
	HealthPort int    // port for health checks of the kubelet
}

// SecondNodeTaint is the taint of the second Node. Only Pods that tolerate it are scheduled there.
const SecondNodeTaint = "example.com/second-node"

// SecondNodeGroup is the subgroup of the cluster's control group for the second Node.
const SecondNodeGroup = "node-2"

var (
	firstNode  = node{Name: "node1", IP: NodeIP, RunDir: "/run/containerd", HealthPort: 10248}
	secondNode = node{Name: "node2", IP: "10.200.0.3", Suffix: "-2", RunDir: "/run/containerd-2", HealthPort: 10258}
)

func (c Config) nodes() []node {
	if c.SecondNode {
		return []node{firstNode, secondNode}
	}
	return []node{firstNode}
}

func (c Config) nodeIPs() (addresses []string) {
	for _, n := range c.nodes() {
		addresses = append(addresses, n.IP)
	}
	return addresses
}
