package check

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

func TestTheCluster(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"major":"1","minor":"29","gitVersion":"v1.29.4-eks-036c24b"}`))
	}))
	defer old.Close()
	admin, err := server.Admin()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		kubeconfig, context string
		status              Status
		words               []string
	}{
		"that answers":             {admin, "", Passed, []string{"context test, http://127.0.0.1", "Kubernetes v1."}},
		"of a context by its name": {admin, demotest.Context, Passed, []string{"context test"}},
		"of a context that is not": {admin, "other", Failed, []string{`"other"`, "--context", "kubectl config get-contexts"}},
		"of no kubeconfig":         {filepath.Join(t.TempDir(), "none"), "", Failed, []string{"KUBECONFIG"}},
		"of a broken kubeconfig":   {broken(t), "", Failed, []string{"KUBECONFIG"}},
		"that does not answer":     {kubeconfig(t, "http://127.0.0.1:1"), "", Failed, []string{"http://127.0.0.1:1 does not answer", "kubectl version"}},
		"that is too old":          {kubeconfig(t, old.URL), "", Failed, []string{"v1.29.4", "1.30 or newer"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tc.kubeconfig)
			s := &Subject{Options: target.Options{Context: tc.context}}
			expect(t, cluster(t.Context(), s), tc.status, tc.words...)
			if tc.status == Passed && s.Kube == nil {
				t.Error("the checks to come know no cluster")
			}
		})
	}
}

func broken(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: url}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "c"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheArchitectureIsThatOfTheNodesThatTakePods(t *testing.T) {
	tainted, cordoned, windows := demotest.Node("tainted", "s390x"), demotest.Node("cordoned", "s390x"), demotest.Node("windows", "s390x")
	tainted.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	cordoned.Spec.Unschedulable = true
	windows.Status.NodeInfo.OperatingSystem = "windows"
	disliked := demotest.Node("disliked", "arm64")
	disliked.Spec.Taints = []corev1.Taint{{Key: "rather-not", Effect: corev1.TaintEffectPreferNoSchedule}}
	amd64, arm64 := demotest.Node("amd64", "amd64"), demotest.Node("arm64", "arm64")
	riscv := demotest.Node("riscv", "riscv64")
	tests := map[string]struct {
		nodes    []*corev1.Node
		want     string // by the flag
		status   Status
		words    []string
		wantArch string
	}{
		"one of all nodes":                      {[]*corev1.Node{arm64, disliked}, "", Passed, []string{"2 of arm64", "go to arm64"}, "arm64"},
		"not that of nodes that take none":      {[]*corev1.Node{amd64, tainted, cordoned, windows}, "", Passed, []string{"1 of amd64;"}, "amd64"},
		"all, where nodes have several":         {[]*corev1.Node{amd64, arm64}, "", Passed, []string{"1 of amd64, 1 of arm64", "go to amd64 or arm64"}, "multiarch"},
		"the only one that it is made for":      {[]*corev1.Node{amd64, riscv}, "", Passed, []string{"1 of amd64, 1 of riscv64", "go to amd64"}, "amd64"},
		"one that was chosen":                   {[]*corev1.Node{amd64, arm64}, "arm64", Passed, []string{"go to arm64"}, "arm64"},
		"all, because that was chosen":          {[]*corev1.Node{amd64}, "multiarch", Passed, []string{"go to amd64"}, "multiarch"},
		"none that there are no nodes of":       {[]*corev1.Node{amd64}, "arm64", Failed, []string{"none of arm64", "--arch"}, "arm64"},
		"none that there is no overlay for":     {[]*corev1.Node{riscv}, "", Failed, []string{"1 of riscv64", "no overlay"}, ""},
		"nor all, where there is none":          {[]*corev1.Node{riscv}, "multiarch", Failed, []string{"1 of riscv64", "no overlay"}, "multiarch"},
		"unknown where no node takes any":       {[]*corev1.Node{tainted}, "", Failed, []string{"no Linux node", "kubectl get nodes"}, ""},
		"unknown where there are no nodes left": {nil, "amd64", Failed, []string{"no Linux node"}, "amd64"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := subject(t, target.Direct)
			s.Architecture = tc.want
			for _, node := range tc.nodes {
				create(t, node.DeepCopy())
			}
			expect(t, nodes(t.Context(), s), tc.status, tc.words...)
			if s.Architecture != tc.wantArch {
				t.Errorf("architecture %q, want %q", s.Architecture, tc.wantArch)
			}
		})
	}
}

func TestNodesThatMayNotBeListed(t *testing.T) {
	expect(t, nodes(t.Context(), subjectOf(t, target.Direct, "guest")), Failed, "forbidden", "right to list nodes")
}
