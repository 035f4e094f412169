package builds

var kwok = &wrapper{component: "kwok", dir: "scripts/cluster/builds/kwok", module: "sigs.k8s.io/kwok"}

// Kwok plays the kubelets of simulated nodes.
var Kwok = Binary{"kwok", "sigs.k8s.io/kwok/cmd/kwok", kwok}

// Simulated is what a cluster of simulated nodes needs.
func Simulated() []Binary {
	return []Binary{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl, Kwok}
}
