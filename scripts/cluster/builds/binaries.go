package builds

import (
	"fmt"
	"strings"
)

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
	// Kubernetes, etcd and CoreDNS, which share most of their libraries.
	kubernetes = &wrapper{component: "kubernetes", dir: "scripts/cluster/builds/kubernetes",
		module: "k8s.io/kubernetes", stamp: "k8s.io/component-base/version.gitVersion"}

	containerd = &wrapper{component: "containerd", dir: "scripts/cluster/builds/containerd",
		module: "github.com/containerd/containerd/v2", stamp: "github.com/containerd/containerd/v2/version.Version",
		tags: "no_btrfs,no_devmapper,no_zfs"} // the snapshotters that need C libraries

	argocd = &wrapper{component: "argocd", dir: "scripts/cluster/builds/argocd", module: "github.com/argoproj/argo-cd/v3"}

	tools = &wrapper{component: "kustomize", dir: "scripts/tools", module: "sigs.k8s.io/kustomize/kustomize/v5",
		stamp: "sigs.k8s.io/kustomize/api/provenance.version"}
)

// own is where the wrappers' own programs are. One file may be several programs, whose common code is linked once: it
// acts by the name that it is called with.
const own = rootModule + "/scripts/cluster/builds/"

// The programs that can be built.
var (
	Etcd = Binary{"etcd", "go.etcd.io/etcd/server/v3", kubernetes}

	KubeAPIServer         = Binary{"kube-apiserver", own + "kubernetes/controlplane", kubernetes}
	KubeControllerManager = Binary{"kube-controller-manager", own + "kubernetes/controlplane", kubernetes}
	KubeScheduler         = Binary{"kube-scheduler", own + "kubernetes/controlplane", kubernetes}
	Kubectl               = Binary{"kubectl", own + "kubernetes/controlplane", kubernetes}
	KubeProxy             = Binary{"kube-proxy", own + "kubernetes/node", kubernetes}
	Kubelet               = Binary{"kubelet", own + "kubernetes/node", kubernetes}

	CoreDNS = Binary{"coredns", own + "kubernetes/coredns", kubernetes}

	Containerd     = Binary{"containerd", "github.com/containerd/containerd/v2/cmd/containerd", containerd}
	ContainerdShim = Binary{"containerd-shim-runc-v2",
		"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2", containerd}

	// ArgoCDs are the versions of Argo CD that a cluster can have, the default first. Each has the name argocd.
	ArgoCDs = []Binary{{"argocd", own + "argocd", argocd}}

	Kustomize = Binary{"kustomize", "sigs.k8s.io/kustomize/kustomize/v5", tools}
)

// Cluster is what a whole cluster needs, but for Argo CD.
func Cluster() []Binary {
	return []Binary{
		Etcd,
		KubeAPIServer, KubeControllerManager, KubeScheduler, KubeProxy, Kubelet, Kubectl,
		CoreDNS,
		Containerd, ContainerdShim,
	}
}

// WithArgoCD is what a whole cluster needs.
func WithArgoCD(argoCD Binary) []Binary {
	return append(Cluster(), argoCD, Kustomize)
}

// ArgoCD finds the Argo CD of a version. A version may leave its end out, as in 3.5; an empty one is the default.
func ArgoCD(version string) (Binary, error) {
	if version == "" {
		return ArgoCDs[0], nil
	}
	var known []string
	for _, binary := range ArgoCDs {
		pinned, err := Version(binary)
		if err != nil {
			return Binary{}, err
		}
		if strings.HasPrefix(pinned+".", "v"+strings.TrimPrefix(version, "v")+".") {
			return binary, nil
		}
		known = append(known, strings.TrimPrefix(pinned, "v"))
	}
	return Binary{}, fmt.Errorf("no Argo CD %s: want one of %s", version, strings.Join(known, ", "))
}
