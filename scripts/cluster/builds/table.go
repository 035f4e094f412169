package builds

import (
	"fmt"
	"strings"
)

// component is what one go.mod pins, and how that is built.
type component struct {
	name   string // as people call it
	mod    string // the go.mod, from the root of the repository: the one place that states the version
	module string // whose version is the component's
	stamp  string // the variable that holds the version, where the program doesn't know it by itself
	tags   string
}

// Binary is one program: a package of a component.
type Binary struct {
	Name    string // of the file, which is not always what `go build` would call it
	Package string
	*component
}

const (
	shim   = "containerd-shim-runc-v2"
	folder = "scripts/cluster/builds/"
	own    = rootModule + "/" + folder // programs that are several in one file, whose common code is linked once
)

// The components, and with the go.mod of each the versions of everything.
var (
	// Kubernetes, etcd and CoreDNS, which share most of their libraries: those of the control plane, which tests without
	// a Node need too, and those of a Node.
	kubernetes = &component{"kubernetes", folder + "kubernetes/go.mod", "k8s.io/kubernetes",
		"k8s.io/component-base/version.gitVersion", ""}
	node       = &component{"kubernetes-node", kubernetes.mod, kubernetes.module, kubernetes.stamp, ""}
	containerd = &component{"containerd", folder + "containerd/go.mod", "github.com/containerd/containerd/v2",
		"github.com/containerd/containerd/v2/version.Version",
		"no_btrfs,no_devmapper,no_zfs"} // the snapshotters that need C libraries
	kwok      = &component{"kwok", folder + "kwok/go.mod", "sigs.k8s.io/kwok", "", ""}
	kustomize = &component{"kustomize", "scripts/tools/go.mod", "sigs.k8s.io/kustomize/kustomize/v5",
		"sigs.k8s.io/kustomize/api/provenance.version", ""}

	// argoCDs are the versions of Argo CD that a cluster can have, the default first. Another one is a line here and
	// its go.mod, with another name in the same folder.
	argoCDs = []*component{
		{"argocd", folder + "argocd/go.mod", "github.com/argoproj/argo-cd/v3", "", ""},
	}
)

// The programs that can be built.
var (
	Etcd                  = Binary{"etcd", "go.etcd.io/etcd/server/v3", kubernetes}
	KubeAPIServer         = Binary{"kube-apiserver", own + "kubernetes/controlplane", kubernetes}
	KubeControllerManager = Binary{"kube-controller-manager", own + "kubernetes/controlplane", kubernetes}
	KubeScheduler         = Binary{"kube-scheduler", own + "kubernetes/controlplane", kubernetes}
	Kubectl               = Binary{"kubectl", own + "kubernetes/controlplane", kubernetes}
	KubeProxy             = Binary{"kube-proxy", own + "kubernetes/node", node}
	Kubelet               = Binary{"kubelet", own + "kubernetes/node", node}
	CoreDNS               = Binary{"coredns", own + "kubernetes/coredns", node}
	Containerd            = Binary{"containerd", containerd.module + "/cmd/containerd", containerd}
	ContainerdShim        = Binary{shim, containerd.module + "/cmd/" + shim, containerd}
	Kustomize             = Binary{"kustomize", kustomize.module, kustomize}

	// Kwok reports simulated Nodes and their Pods ready.
	Kwok = Binary{"kwok", "sigs.k8s.io/kwok/cmd/kwok", kwok}
)

// Simulated is what a cluster of simulated Nodes needs.
func Simulated() []Binary {
	return []Binary{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kubectl, Kwok}
}

// Cluster is what a cluster with a real Node needs, but for Argo CD.
func Cluster() []Binary {
	return []Binary{
		Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, KubeProxy, Kubelet, Kubectl, CoreDNS,
		Containerd, ContainerdShim,
	}
}

// WithArgoCD is what a cluster with a real Node and Argo CD needs.
func WithArgoCD(argoCD Binary) []Binary { return append(Cluster(), argoCD, Kustomize) }

// ArgoCDs are the versions of Argo CD that a cluster can have, the default first.
func ArgoCDs() []Binary {
	binaries := make([]Binary, len(argoCDs))
	for i, component := range argoCDs {
		binaries[i] = Binary{"argocd", own + "argocd", component}
	}
	return binaries
}

// ArgoCD finds the Argo CD of a version. A version may leave its end out, as in 3.5; an empty one is the default.
func ArgoCD(version string) (Binary, error) {
	var known []string
	for _, binary := range ArgoCDs() {
		pinned, err := Version(binary)
		if err != nil {
			return Binary{}, err
		}
		if version == "" || strings.HasPrefix(pinned+".", "v"+strings.TrimPrefix(version, "v")+".") {
			return binary, nil
		}
		known = append(known, strings.TrimPrefix(pinned, "v"))
	}
	return Binary{}, fmt.Errorf("no Argo CD %s: want one of %s", version, strings.Join(known, ", "))
}
