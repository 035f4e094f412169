package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

func TestTheCluster(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"gitVersion":"v1.29.4-eks-036c24b"}`))
	}))
	defer old.Close()
	config := clientcmdapi.NewConfig()
	config.Clusters["old"] = &clientcmdapi.Cluster{Server: old.URL}
	config.Contexts["old"] = &clientcmdapi.Context{Cluster: "old"}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	for context, words := range map[string][]string{
		"other": {`context "other" does not exist`, "--context"},
		"":      {"no cluster is configured", "set KUBECONFIG"},
		"old":   {"context old", "v1.29.4", "1.30 or newer"},
	} {
		expect(t, newDemo(t, pipeline.Direct).checkCluster(t.Context(), context), failed, words...)
	}
}

func TestTheArchitectureIsThatOfTheNodes(t *testing.T) {
	nodes := func(architectures string) (nodes []corev1.Node) {
		for architecture := range strings.FieldsSeq(architectures) {
			var node corev1.Node
			node.Status.NodeInfo = corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: architecture}
			nodes = append(nodes, node)
		}
		return nodes
	}
	unusable := nodes("amd64 amd64 amd64")
	unusable[0].Spec.Taints = []corev1.Taint{{Key: "control-plane", Effect: corev1.TaintEffectNoSchedule}}
	unusable[1].Spec.Unschedulable = true
	unusable[2].Status.NodeInfo.OperatingSystem = "windows"
	tests := map[string]struct {
		nodes               []corev1.Node
		chosen, want, built string
	}{
		"one":                         {nodes("arm64 arm64"), "", "arm64", "arm64"},
		"several":                     {nodes("s390x amd64"), "", "multiarch", "amd64 s390x"},
		"several, and one is chosen":  {nodes("s390x amd64"), "s390x", "s390x", "s390x"},
		"one of several is supported": {nodes("riscv64 amd64"), "", "amd64", "amd64"},
		"none that is chosen":         {nodes("amd64"), "arm64", "", ""},
		"none that is supported":      {nodes("riscv64"), "", "", ""},
		"none for ordinary Pods":      {unusable, "", "", ""},
	}
	for name, tc := range tests {
		d := newDemo(t, pipeline.Direct)
		d.Architecture = tc.chosen
		_, err := d.chooseArchitecture(tc.nodes)
		built := strings.Join(d.Architectures, " ")
		if (err != nil) != (tc.want == "") || built != tc.built || err == nil && d.Architecture != tc.want {
			t.Errorf("%s: install for %s, build %s, error %v", name, d.Architecture, built, err)
		}
	}
}

func TestTheRegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	serve := func(handler http.Handler) string {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://") + "/team"
	}
	accepts := serve(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	refuses := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	for registry, tc := range map[string]struct {
		status status
		words  []string
	}{
		accepts:            {warning, []string{"accepts images", "must be the same registry on the Nodes"}},
		refuses:            {failed, []string{"memcached-operator:demo cannot be pushed", "docker login 127.0.0.1:"}},
		"127.0.0.1:1/team": {failed, []string{"connection refused", "curl -v 127.0.0.1:1/v2/"}},
		"R E":              {failed, []string{"R E/memcached-operator"}},
	} {
		d := newDemo(t, pipeline.Direct)
		d.Registry = registry
		expect(t, d.checkRegistry(t.Context()), tc.status, tc.words...)
	}
}
