package builds

// Binary is one program of the cluster: a package of a module that a wrapper go.mod pins.
type Binary struct {
	Name    string // of the file, which is not always what `go build` would call it
	Package string
	wrapper *wrapper
}

// wrapper is a folder whose go.mod pins what is built, and how that is built.
type wrapper struct {
	component string // as people call it
	dir       string // from the root of the repository
	module    string // whose version is the component's
	tags      string
	stamp     string // the variable that holds the version, where the program doesn't know it by itself
}

var (
	etcd = &wrapper{component: "etcd", dir: "scripts/cluster/builds/etcd", module: "go.etcd.io/etcd/server/v3"}

	kubernetes = &wrapper{component: "kubernetes", dir: "scripts/cluster/builds/kubernetes",
		module: "k8s.io/kubernetes", stamp: "k8s.io/component-base/version.gitVersion"}

	containerd = &wrapper{component: "containerd", dir: "scripts/cluster/builds/containerd",
		module: "github.com/containerd/containerd/v2", stamp: "github.com/containerd/containerd/v2/version.Version",
		tags: "no_btrfs,no_devmapper,no_zfs"} // the snapshotters that need C libraries

	coredns = &wrapper{component: "coredns", dir: "scripts/cluster/builds/coredns", module: "github.com/coredns/coredns"}

	argocd = &wrapper{component: "argocd", dir: "scripts/cluster/builds/argocd", module: "github.com/argoproj/argo-cd/v2"}

	tools = &wrapper{component: "kustomize", dir: "scripts/tools", module: "sigs.k8s.io/kustomize/kustomize/v5",
		stamp: "sigs.k8s.io/kustomize/api/provenance.version"}
)

// The programs that can be built.
var (
	Etcd = Binary{"etcd", "go.etcd.io/etcd/server/v3", etcd}

	KubeAPIServer         = Binary{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", kubernetes}
	KubeControllerManager = Binary{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", kubernetes}
	KubeScheduler         = Binary{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", kubernetes}
	KubeProxy             = Binary{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy", kubernetes}
	Kubelet               = Binary{"kubelet", "k8s.io/kubernetes/cmd/kubelet", kubernetes}
	Kubectl               = Binary{"kubectl", "k8s.io/kubernetes/cmd/kubectl", kubernetes}

	Containerd     = Binary{"containerd", "github.com/containerd/containerd/v2/cmd/containerd", containerd}
	ContainerdShim = Binary{"containerd-shim-runc-v2",
		"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2", containerd}
	Ctr = Binary{"ctr", "github.com/containerd/containerd/v2/cmd/ctr", containerd}

	CoreDNS   = Binary{"coredns", "github.com/coredns/coredns", coredns}
	ArgoCD    = Binary{"argocd", "github.com/argoproj/argo-cd/v2/cmd", argocd}
	Kustomize = Binary{"kustomize", "sigs.k8s.io/kustomize/kustomize/v5", tools}
)

// Cluster is what a whole cluster needs, with Argo CD or without.
func Cluster(withArgoCD bool) []Binary {
	all := []Binary{
		Etcd,
		KubeAPIServer, KubeControllerManager, KubeScheduler, KubeProxy, Kubelet, Kubectl,
		Containerd, ContainerdShim, Ctr,
		CoreDNS,
	}
	if withArgoCD {
		all = append(all, ArgoCD, Kustomize)
	}
	return all
}
