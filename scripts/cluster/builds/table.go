package builds

// Component has the programs that one call of the compiler makes from modules that one go.mod pins.
type Component struct {
	name     string // the name that people use
	mod      string // path of the go.mod from the root of the repository; only this file states the version
	module   string // the version of this module is the version of the component
	stamp    string // the variable that holds the version, if the program doesn't know it by itself
	tags     string
	programs []program
}

// program is a file. Several programs of one package are the same file, so their common code is linked once.
type program struct{ name, pkg string }

const (
	folder = "scripts/cluster/builds/"
	own    = rootModule + "/" + folder

	containerd = "github.com/containerd/containerd/v2"
)

// These are the components. Kubernetes, etcd and CoreDNS are in one go.mod, because they share most of their libraries.
var (
	// Kubernetes is the control plane, which tests without a Node need too.
	Kubernetes = &Component{
		name: "kubernetes", mod: folder + "kubernetes/go.mod", module: "k8s.io/kubernetes",
		stamp: "k8s.io/component-base/version.gitVersion",
		programs: []program{
			{"etcd", "go.etcd.io/etcd/server/v3"},
			{"kube-apiserver", own + "kubernetes/controlplane"},
			{"kube-controller-manager", own + "kubernetes/controlplane"},
			{"kube-scheduler", own + "kubernetes/controlplane"},
			{"kubectl", own + "kubernetes/controlplane"},
		},
	}
	node = &Component{
		name: "kubernetes-node", mod: Kubernetes.mod, module: Kubernetes.module, stamp: Kubernetes.stamp,
		programs: []program{
			{"kube-proxy", own + "kubernetes/node"},
			{"kubelet", own + "kubernetes/node"},
			{"coredns", own + "kubernetes/coredns"},
		},
	}
	runtimes = &Component{
		name: "containerd", mod: folder + "containerd/go.mod", module: containerd, stamp: containerd + "/version.Version",
		tags: "no_btrfs,no_devmapper,no_zfs", // the snapshotters that need C libraries
		programs: []program{
			{"containerd", containerd + "/cmd/containerd"},
			{"containerd-shim-runc-v2", containerd + "/cmd/containerd-shim-runc-v2"},
		},
	}
	// Kwok reports that simulated Nodes and their Pods are ready.
	Kwok = &Component{
		name: "kwok", mod: folder + "kwok/go.mod", module: "sigs.k8s.io/kwok",
		programs: []program{{"kwok", "sigs.k8s.io/kwok/cmd/kwok"}},
	}
	kustomize = &Component{
		name: "kustomize", mod: "scripts/tools/go.mod", module: "sigs.k8s.io/kustomize/kustomize/v5",
		stamp:    "sigs.k8s.io/kustomize/api/provenance.version",
		programs: []program{{"kustomize", "sigs.k8s.io/kustomize/kustomize/v5"}},
	}

	ArgoCD = &Component{
		name: "argocd", mod: folder + "argocd/go.mod", module: "github.com/argoproj/argo-cd/v3",
		programs: []program{{"argocd", own + "argocd"}},
	}
	// ApplicationSets is Argo CD's controller of ApplicationSets. It is separate, because its generators are much code.
	ApplicationSets = &Component{
		name: ArgoCD.name + "-applicationset", mod: ArgoCD.mod, module: ArgoCD.module,
		programs: []program{{"argocd-applicationset-controller", own + "argocd/applicationset"}},
	}
)

// Simulated returns the components that a cluster of simulated Nodes needs.
func Simulated() []*Component { return []*Component{Kubernetes, Kwok} }

// Cluster returns the components that a cluster with a real Node needs, except Argo CD.
func Cluster() []*Component { return []*Component{Kubernetes, node, runtimes} }

// WithArgoCD returns the components that a cluster with a real Node and Argo CD needs.
func WithArgoCD() []*Component { return append(Cluster(), ArgoCD, kustomize) }
