package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

func TestTheCluster(t *testing.T) {
	var out answers
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"gitVersion":"v1.29.4-eks-036c24b"}`))
	}))
	defer old.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf("clusters: [{name: old, cluster: {server: %q}}]\ncontexts: [{name: old, context: {cluster: old}}]\n", old.URL)
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	for _, context := range []string{"other", "", "old"} {
		out.add("context "+context, newDemo(t, pipeline.Direct).checkCluster(t.Context(), context))
	}
	golden(t, "cluster.txt", strings.ReplaceAll(out.String(), old.URL, "http://old"))
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
	for name, tc := range map[string]struct {
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
	} {
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
	var out answers
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
	for _, tc := range [][2]string{{"accepts", accepts}, {"refuses", refuses}, {"does not exist", "127.0.0.1:1/team"}, {"is none", "R E"}} {
		d := newDemo(t, pipeline.Direct)
		d.Registry = tc[1]
		out.add(tc[0], d.checkRegistry(t.Context()))
	}
	golden(t, "registry.txt", strings.NewReplacer(accepts, "ACCEPTS/team", refuses, "REFUSES/team",
		strings.TrimSuffix(accepts, "/team"), "ACCEPTS", strings.TrimSuffix(refuses, "/team"), "REFUSES").Replace(out.String()))
}
