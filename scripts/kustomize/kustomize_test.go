package kustomize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/types"
)

func TestObjectsComeInTheOrderOfAnApplyWithTheImagesSet(t *testing.T) {
	objects, err := Objects("testdata/app",
		types.Image{Name: "registry.example.com/app", NewName: "localhost:5001/app", NewTag: "dev"},
		types.Image{Name: "registry.example.com/memcached", NewTag: "1.7"})
	if err != nil {
		t.Fatal(err)
	}
	if kind := objects[0].GetKind(); kind != "Namespace" {
		t.Errorf("the first object is a %s, want the Namespace", kind)
	}
	content, err := objects[1].MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range []string{
		"registry.example.com/proxy:1.0.1",   // set in the kustomization
		"localhost:5001/app:dev",             // of a container
		"registry.example.com/memcached:1.7", // in an environment variable
	} {
		if !strings.Contains(string(content), `"`+image+`"`) {
			t.Errorf("the Deployment does not have the image %s: %s", image, content)
		}
	}
	if diff := cmp.Diff(objects[1], objects[1].DeepCopy()); diff != "" {
		t.Errorf("a copy differs (-want +got):\n%s", diff)
	}
}

func TestBuildNamesTheDirectoryAndTheCause(t *testing.T) {
	tests := map[string]struct {
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
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Build(tc.dir, types.Image{Name: "any", NewTag: "1"})
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not contain %q", err, want)
				}
			}
		})
	}
}
