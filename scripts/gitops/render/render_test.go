package render

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/distribution/reference"
	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

func tree() repo.Files {
	return repo.Files{
		"base/kustomization.yaml": []byte("resources: [a.yaml]\nconfigMapGenerator:\n  - {name: b, literals: [x=1]}\n" +
			"generatorOptions: {disableNameSuffixHash: true}\n"),
		"base/a.yaml":             []byte("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n"),
		"over/kustomization.yaml": []byte("namespace: there\nresources: [../base]\n"),
		"README.md":               []byte("read me"),
	}
}

func TestBuildTellsWhereObjectsAreFrom(t *testing.T) {
	objects, err := NewCache().Build(tree(), "over")
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, o := range objects {
		got = append(got, []string{o.GetKind(), o.GetNamespace(), o.GetName(), o.File})
		if len(o.GetAnnotations()) > 0 {
			t.Errorf("%s has annotations of this program: %v", o.GetName(), o.GetAnnotations())
		}
	}
	want := [][]string{{"Service", "there", "a", "base/a.yaml"}, {"ConfigMap", "there", "b", "base/kustomization.yaml"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBuildTellsWhatIsWrong(t *testing.T) {
	deletions := "$patch: delete\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\n" +
		"$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	tests := map[string]struct{ file, content, want string }{
		"no kustomization":             {"over/kustomization.yaml", "", "kustomization.yaml"},
		"a kustomization that is none": {"over/kustomization.yaml", "a: [", "over/kustomization.yaml"},
		"a resource that is not there": {"over/kustomization.yaml", "resources: [../gone]\n", "gone"},
		// Argo CD's kustomize dies of it, and so it must be found here.
		"what kustomize dies of": {"over/delete.yaml", deletions, "kustomize panics"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := tree()
			files["over/kustomization.yaml"] = []byte("namespace: there\nresources: [../base]\npatches: [{path: delete.yaml}]\n")
			files[tc.file] = []byte(tc.content)
			if tc.content == "" {
				delete(files, tc.file)
			}
			_, err := NewCache().Build(files, "over")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestACacheBuildsAgainOnlyWhatChanged(t *testing.T) {
	tests := map[string]struct {
		changes repo.Files
		same    bool
	}{
		"nothing":                 {nil, true},
		"a file that is not read": {repo.Files{"README.md": []byte("read this")}, true},
		"another folder":          {repo.Files{"other/kustomization.yaml": []byte("resources: []")}, true},
		"a file that is read":     {repo.Files{"base/a.yaml": []byte("apiVersion: v1\nkind: Service\nmetadata: {name: c}\n")}, false},
		"a file that is removed":  {repo.Files{"base/a.yaml": nil}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cache, files := NewCache(), tree()
			before, err := cache.Build(files, "over")
			if err != nil {
				t.Fatal(err)
			}
			after, err := cache.Build(files.With(tc.changes), "over")
			same := err == nil && len(after) > 0 && &before[0] == &after[0]
			if same != tc.same {
				t.Errorf("the same: %v, error: %v", same, err)
			}
		})
	}
}

func TestImages(t *testing.T) {
	object := map[string]any{
		"spec": map[string]any{
			"containers": []any{map[string]any{
				"name": "a", "image": "acme.test/a:1", "args": []any{"--b-image=acme.test/b:1", "--image-pull=no", "--serverImage=acme.test/c:1"},
				"env": []any{
					map[string]any{"name": "RELATED_IMAGE_D", "value": "acme.test/d:1"},
					map[string]any{"name": "RELATED_IMAGE_E", "valueFrom": "x"},
					map[string]any{"name": "OTHER", "value": "acme.test/f:1"},
				},
			}},
			"source":  map[string]any{"image": map[string]any{"ref": "acme.test/g:1"}},
			"schemas": map[string]any{"openAPIV3Schema": map[string]any{"image": "no image"}},
			"again":   map[string]any{"image": "acme.test/a:1"},
			"none":    map[string]any{"image": ""},
		},
	}
	want := []string{"acme.test/a:1", "acme.test/b:1", "acme.test/c:1", "acme.test/d:1", "acme.test/g:1"}
	if diff := cmp.Diff(want, Images(object)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestArgoCDsKustomizeSeesTheImagesOfCaches: what test/overlays proves of newer versions of kustomize.
func TestArgoCDsKustomizeSeesTheImagesOfCaches(t *testing.T) {
	files, err := repo.Load("../../..")
	if err != nil {
		t.Fatal(err)
	}
	consumer, want := "resources: [../overlays/arm64]\nimages:\n", []string{}
	for _, image := range imagesOfDeployment(t, files, "overlays/arm64") {
		name, err := reference.ParseNormalizedNamed(image)
		if err != nil {
			t.Fatal(err)
		}
		other := "mirror.example.org/" + path.Base(name.Name())
		consumer += "  - {name: " + name.Name() + ", newName: " + other + ", newTag: 9.8.7}\n"
		want = append(want, other+":9.8.7")
	}
	files["consumer/kustomization.yaml"] = []byte(consumer)
	got := imagesOfDeployment(t, files, "consumer")
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 {
		t.Errorf("%d images (-want +got):\n%s", len(got), diff)
	}
}

func imagesOfDeployment(t *testing.T, files repo.Files, dir string) []string {
	t.Helper()
	objects, err := NewCache().Build(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.GetKind() == "Deployment" {
			return Images(o.Object)
		}
	}
	t.Fatalf("%s has no Deployment", dir)
	return nil
}
