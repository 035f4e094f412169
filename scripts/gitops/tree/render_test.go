package tree

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func folders() Files {
	return Files{
		"base/kustomization.yaml": []byte("resources: [a.yaml]\nconfigMapGenerator:\n  - {name: b, literals: [x=1]}\n" +
			"generatorOptions: {disableNameSuffixHash: true}\n"),
		"base/a.yaml":             []byte("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n"),
		"over/kustomization.yaml": []byte("namespace: there\nresources: [../base]\n"),
		"README.md":               []byte("read me"),
	}
}

func TestObjectsHaveTheFilesThatTheyAreFrom(t *testing.T) {
	objects, err := Cache{}.Render(folders(), "over")
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

func TestKustomizationsThatCanNotBeBuilt(t *testing.T) {
	deletions := "$patch: delete\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\n" +
		"$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	for name, tc := range map[string]struct{ file, content, want string }{
		"no kustomization":         {"over/kustomization.yaml", "", "kustomization.yaml"},
		"no YAML":                  {"over/kustomization.yaml", "a: [", "over/kustomization.yaml"},
		"no such resource":         {"over/kustomization.yaml", "resources: [../gone]\n", "gone"},
		"it makes kustomize panic": {"over/delete.yaml", deletions, "kustomize panics"},
	} {
		files := folders().With(Files{"over/kustomization.yaml": []byte("namespace: there\nresources: [../base]\npatches: [{path: delete.yaml}]\n")})
		files[tc.file] = []byte(tc.content)
		if tc.content == "" {
			delete(files, tc.file)
		}
		if _, err := (Cache{}).Render(files, "over"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACacheRendersAgainWhatChanged(t *testing.T) {
	for name, tc := range map[string]struct {
		changes Files
		same    bool
	}{
		"nothing":              {nil, true},
		"a file of no folder":  {Files{"README.md": []byte("read this")}, true},
		"another folder":       {Files{"other/kustomization.yaml": []byte("resources: []")}, true},
		"a file of the folder": {Files{"base/a.yaml": []byte("apiVersion: v1\nkind: Service\nmetadata: {name: c}\n")}, false},
		"a file less":          {Files{"base/a.yaml": nil}, false},
	} {
		cache, files := Cache{}, folders()
		before, err := cache.Render(files, "over")
		if err != nil {
			t.Fatal(err)
		}
		after, err := cache.Render(files.With(tc.changes), "over")
		if same := err == nil && &before[0] == &after[0]; same != tc.same {
			t.Errorf("%s: the same: %v, error: %v", name, same, err)
		}
	}
}

func TestImages(t *testing.T) {
	const manifest = `
spec:
  containers:
    - {name: a, image: "a:1", args: ["--b-image=b:1", "--image-pull=no", "--serverImage=c:1"], env: [
        {name: RELATED_IMAGE_D, value: "d:1"}, {name: RELATED_IMAGE_E, valueFrom: x}, {name: OTHER, value: "f:1"}]}
  source: {image: {ref: "g:1"}}
  schemas: {openAPIV3Schema: {image: no image}}
  none: {image: ""}`
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a:1", "b:1", "c:1", "d:1", "g:1"}, images(object)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
