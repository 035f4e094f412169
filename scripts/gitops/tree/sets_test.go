package tree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v2/common"
	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// member returns the Secret of a cluster of a fleet.
func member(name, server, ring, environment, arch, way string) corev1.Secret {
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			common.LabelKeySecretType: common.LabelValueSecretTypeCluster,
			"ring":                    ring, "environment": environment, "arch": arch, "way": way,
		}},
		Data: map[string][]byte{"name": []byte(name), "server": []byte(server)},
	}
}

// TestTheRootOfEachCluster compares, for one cluster of each install method, what gitops/fleet makes: the root
// Application, the Applications that it makes, and where the operator and the caches may run. The file of the first
// cluster has whole Applications. The files of the other clusters have only the fields that may differ.
func TestTheRootOfEachCluster(t *testing.T) {
	_, files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	rings := "[{ring: '1', revision: fleet-2}, {ring: '2', revision: fleet-1}, {ring: '3', revision: fleet-1}]"
	b, err := New(files.With(Files{"gitops/fleet/rings.yaml": []byte(rings)}), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Clusters = []corev1.Secret{
		member("laptop", "https://kubernetes.default.svc", "1", "dev", "amd64", "direct"),
		member("frankfurt", "https://frankfurt.example.com:6443", "2", "prod", "arm64", "olm"),
		member("mainframe", "https://mainframe.example.com:6443", "3", "prod", "multiarch", "openshift"),
		member("edge", "https://edge.example.com:6443", "3", "prod", "arm64", "olm-v1"),
	}
	trees, err := b.Fleet("gitops/fleet")
	if err != nil || len(trees) != len(b.Clusters) {
		t.Fatalf("%d trees, %v", len(trees), err)
	}
	for _, tree := range trees {
		name := tree.Root.Name[strings.LastIndex(tree.Root.Name, "-")+1:]
		compare(t, name+".yaml", append(tree.applications(name == b.Clusters[0].Name), tree.placed()...))
	}
}

// applications returns the root Application and those that it makes. Unless whole is set, it leaves out the fields that
// are the same for each cluster, and the patches in the root, whose effect shows in the Applications that the root
// makes.
func (t *Tree) applications(whole bool) (all []map[string]any) {
	for _, app := range t.All() {
		o := app.Manifest.DeepCopy().Object
		delete(o, "status")
		unstructured.RemoveNestedField(o, "metadata", "creationTimestamp")
		all = append(all, o)
		if whole {
			continue
		}
		for _, fields := range [][]string{
			{"metadata", "annotations"}, {"metadata", "finalizers"}, {"metadata", "namespace"}, {"spec", "ignoreDifferences"},
			{"spec", "syncPolicy"}, {"spec", "source", "repoURL"},
		} {
			unstructured.RemoveNestedField(o, fields...)
		}
	}
	if !whole {
		unstructured.RemoveNestedField(all[0], "spec", "source", "kustomize")
	}
	return all
}

// placed returns the fields of the operator's objects that say on which architectures the operator and caches run,
// without images.
func (t *Tree) placed() (placed []map[string]any) {
	fields := map[string][]string{
		"Subscription": {"spec", "config"}, "Deployment": {"spec", "template", "spec", "affinity"},
	}
	for app, o := range t.Objects() {
		path := fields[o.GetKind()]
		if path == nil || !strings.HasPrefix(app.Name, "memcached-operator-") {
			continue
		}
		value, _, _ := unstructured.NestedMap(o.Object, path...)
		if env, has := value["env"].([]any); has {
			value["env"] = slices.DeleteFunc(env, func(variable any) bool {
				return strings.HasPrefix(variable.(map[string]any)["name"].(string), "RELATED_IMAGE_")
			})
		}
		short := map[string]any{"kind": o.GetKind(), "metadata": map[string]any{"name": o.GetName()}}
		_ = unstructured.SetNestedMap(short, value, path...) // It can't fail, because the path is new in this object.
		placed = append(placed, short)
	}
	return placed
}

func compare(t *testing.T, name string, objects []map[string]any) {
	t.Helper()
	var got strings.Builder
	for _, o := range objects {
		content, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString("---\n" + string(content))
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s: read the difference, then run make generate (-golden +got):\n%s", name, diff)
	}
}
