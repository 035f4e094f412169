package current

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/scripts/demo/check"
	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/gitrepo"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

var update = flag.Bool("update", false, "write the golden files anew")

// announced is a demo after its checks.
func announced(way target.Way, branch string, isNew bool) *demo {
	argoCD := func(kind, name string) *unstructured.Unstructured {
		return demotest.Object("argoproj.io/v1alpha1", kind, "argocd", name)
	}
	settings := demotest.Object("v1", "ConfigMap", "argocd", "argocd-cm")
	settings.Object["data"] = map[string]any{"a": "1", "b": "2"}
	return &demo{Subject: check.Subject{
		Options: target.Options{
			Way: way, Registry: "registry.example.org/team", Repo: "https://git.example.org/team/x.git",
			Revision: branch, Architecture: "arm64", ArgoCDNamespace: "argocd", MemcachedImage: "docker.io/library/memcached:1.6.45",
		},
		Kube:              &target.Kube{Context: "kind", Config: &rest.Config{Host: "https://127.0.0.1:6443"}},
		NodeArchitectures: []string{"amd64", "arm64", "riscv64"},
		Git:               &gitrepo.Work{Branch: branch, New: isNew},
		Changes: []gitrepo.Change{
			{Status: "M", Path: "gitops/settings/settings.yaml"}, {Status: "A", Path: "a"}, {Status: "A", Path: "b"}, {Status: "D", Path: "c"},
		},
		Settings:  []*unstructured.Unstructured{settings},
		Bootstrap: []*unstructured.Unstructured{argoCD("Application", "memcached-root"), argoCD("AppProject", "memcached-root"), argoCD("AppProject", "olm")},
	}}
}

func TestWhatIsAnnounced(t *testing.T) {
	golden(t, "plan-direct.txt", announced(target.Direct, "memcached-demo", true).plan())
	golden(t, "plan-olm.txt", announced(target.OLM, "main", false).plan())
}

func TestWhatCanBeDoneNext(t *testing.T) {
	d := announced(target.Direct, "memcached-demo", true)
	d.applied, d.published = true, true
	golden(t, "next-steps.txt", d.nextSteps()+"\n"+d.removal())
}

func TestOnlyWhatIsThereIsToBeRemoved(t *testing.T) {
	const argoCD, branch, images = "delete application", "git push", "images tagged demo"
	tests := map[string]struct {
		demo func() *demo
		want []string
		not  []string
	}{
		"only images": {func() *demo { return announced(target.Direct, "memcached-demo", true) }, []string{images}, []string{argoCD, branch}},
		"images and a branch": {func() *demo {
			d := announced(target.Direct, "memcached-demo", true)
			d.published = true
			return d
		}, []string{images, branch}, []string{argoCD}},
		"but never a branch that was there": {func() *demo {
			d := announced(target.Direct, "main", false)
			d.published, d.applied = true, true
			return d
		}, []string{images, argoCD}, []string{branch}},
		"what OLM v1 keeps": {func() *demo {
			d := announced(target.OLMv1, "memcached-demo", false)
			d.published, d.applied = true, true
			return d
		}, []string{"ClusterExtension", branch}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.demo().removal()
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("lacks %q:\n%s", want, got)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(got, not) {
					t.Errorf("has %q:\n%s", not, got)
				}
			}
		})
	}
}

func TestWhatTheChecksFoundIsAList(t *testing.T) {
	var out bytes.Buffer
	for _, result := range []check.Result{
		{Name: "cluster", Status: check.Passed, Found: "Kubernetes v1.36.3"},
		{Name: "registry", Status: check.Warning, Found: "localhost", Remedy: "think of the nodes"},
		{Name: "Argo CD", Status: check.Failed, Found: "is missing", Remedy: "install it:\nkubectl apply"},
		{Name: "Argo CD's settings", Status: check.Skipped, Found: "not looked at: it needs Argo CD"},
	} {
		printResult(&out, result)
	}
	golden(t, "checks.txt", out.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), written anew by -update:\n%s", name, diff)
	}
}
