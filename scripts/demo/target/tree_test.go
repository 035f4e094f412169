package target

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// tree is a copy of what is published.
func tree(t *testing.T) string {
	t.Helper()
	root, err := builds.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Replace(root, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheBootstrapHasTheSettingsOfTheDemo(t *testing.T) {
	for _, way := range ways {
		t.Run(string(way), func(t *testing.T) {
			dir := tree(t)
			o := Options{
				Way: way, Repo: "https://git.example.org/x.git", Revision: "memcached-demo",
				ArgoCDNamespace: "openshift-gitops", Architecture: "arm64",
			}
			if err := o.Stamp(dir, Pushed{}); err != nil {
				t.Fatal(err)
			}
			objects, err := Build(dir, way.RootFolder())
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects {
				if object.GetNamespace() != "openshift-gitops" {
					t.Errorf("%s %s is in the namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
				}
			}
			source, _, _ := unstructured.NestedStringMap(find(t, objects, "Application").Object, "spec", "source")
			want := map[string]string{
				"repoURL": o.Repo, "targetRevision": o.Revision, "path": "gitops/apps/overlays/" + string(way),
			}
			if diff := cmp.Diff(want, source); diff != "" {
				t.Errorf("source of the root Application (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheSettingsOfArgoCDCanBeBuilt(t *testing.T) {
	dir := tree(t)
	for folder, kind := range map[string]string{SettingsFolder: "ConfigMap", InstanceFolder: "ArgoCD"} {
		objects, err := Build(dir, folder)
		if err != nil {
			t.Fatal(err)
		}
		find(t, objects, kind)
	}
}

func find(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() == kind {
			return object
		}
	}
	t.Fatalf("there is no %s", kind)
	return nil
}

func TestPushedImagesGoIntoTheSettings(t *testing.T) {
	dir := tree(t)
	before, err := values.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Repo: "https://git.example.org/x.git", Revision: "b"}
	if err := o.Stamp(dir, Pushed{Operator: "r.example.org/o@sha256:12", Agent: "r.example.org/a@sha256:34"}); err != nil {
		t.Fatal(err)
	}
	got, err := values.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := before
	want.RepoURL, want.Revision, want.OperatorImage = o.Repo, o.Revision, "r.example.org/o@sha256:12"
	want.AgentImage = "r.example.org/a@sha256:34"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplaceLeavesNothingOfWhatWasThere(t *testing.T) {
	root, dir := tree(t), t.TempDir()
	for _, name := range []string{"gitops/samples/old.yaml", "README.md"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(root, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gitops/samples/old.yaml")); err == nil {
		t.Error("a file of a published folder is left")
	}
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		t.Errorf("a file outside of the published folders is gone: %v", err)
	}
}
