package kustomize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjectsComeInTheOrderOfAnApply(t *testing.T) {
	objects, err := Objects("testdata/app")
	if err != nil {
		t.Fatal(err)
	}
	if kind := objects[0].GetKind(); kind != "Namespace" {
		t.Errorf("the first object is a %s, want the Namespace", kind)
	}
	content, err := objects[1].MarshalJSON()
	if err != nil || !strings.Contains(string(content), `"registry.example.com/proxy:1.0.1"`) {
		t.Errorf("the Deployment does not have the image that the kustomization sets: %s, error %v", content, err)
	}
	if diff := cmp.Diff(objects[1], objects[1].DeepCopy()); diff != "" {
		t.Errorf("a copy differs (-want +got):\n%s", diff)
	}
}

func TestBuildNamesTheDirectoryAndTheCause(t *testing.T) {
	for name, tc := range map[string]struct {
		dir  string
		want []string
	}{
		"a directory that does not exist":      {"testdata/nowhere", []string{"testdata/nowhere", "overlays/amd64"}},
		"a file":                               {"testdata/app/deployment.yaml", []string{"is a file", "testdata/app"}},
		"a directory without a kustomization":  {"testdata", []string{"kustomization", "testdata"}},
		"a kustomization with a syntax error":  {"testdata/malformed", []string{"testdata/malformed", "line 1"}},
		"a resource that does not exist":       {"testdata/missing", []string{"not-there.yaml"}},
		"a file from outside of the directory": {"testdata/outside", []string{"is not in or below"}},
		"a kustomization without objects":      {"testdata/empty", []string{"testdata/empty", "resources:"}},
	} {
		_, err := Build(tc.dir)
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v does not contain %q", name, err, want)
			}
		}
	}
}
