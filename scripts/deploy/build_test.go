package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestBuild(t *testing.T) {
	proxy := map[string]any{"name": "proxy", "image": "registry.example.com/proxy:1.0.0"}
	tests := map[string]struct {
		overrides overrides
		want      []map[string]any
	}{
		"without overrides the manifests stay as they are": {
			want: []map[string]any{proxy, manager("registry.example.com/app:0.1.0", "registry.example.com/memcached:1.6")},
		},
		"an image gets another registry and tag": {
			overrides: overrides{images: []string{"registry.example.com/app=localhost:5001/app:dev"}},
			want:      []map[string]any{proxy, manager("localhost:5001/app:dev", "registry.example.com/memcached:1.6")},
		},
		"an image gets a digest, which replaces its tag": {
			overrides: overrides{images: []string{"registry.example.com/app=registry.example.com/app@" + digest}},
			want:      []map[string]any{proxy, manager("registry.example.com/app@"+digest, "registry.example.com/memcached:1.6")},
		},
		"images are named by the last part, also one that the environment tells of": {
			overrides: overrides{images: []string{"app=localhost:5001/app:dev", "memcached=localhost:5001/memcached:dev"}},
			want:      []map[string]any{proxy, manager("localhost:5001/app:dev", "localhost:5001/memcached:dev")},
		},
		"a variable of one container is set where it stands": {
			overrides: overrides{env: []string{"manager/RELATED_IMAGE_MEMCACHED=localhost:5001/memcached:dev"}},
			want:      []map[string]any{proxy, manager("registry.example.com/app:0.1.0", "localhost:5001/memcached:dev")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := build("testdata/app", tc.overrides)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, containersOf(find(t, objects, "Deployment"))); diff != "" {
				t.Errorf("containers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := map[string]struct {
		overrides overrides
		want      []string // what the error says
	}{
		"an image without a new reference":       {overrides: overrides{images: []string{"app"}}, want: []string{"NAME=REF"}},
		"an image reference that is none":        {overrides: overrides{images: []string{"app=UPPER case"}}, want: []string{"UPPER case"}},
		"an image that no container has":         {overrides: overrides{images: []string{"example.com/app=b:1"}}, want: []string{"there are: registry.example.com/app:0.1.0"}},
		"an image of a part of the name":         {overrides: overrides{images: []string{"pp=b:1"}}, want: []string{"there are: registry.example.com/app:0.1.0"}},
		"a variable without a container":         {overrides: overrides{env: []string{"A=b"}}, want: []string{"CONTAINER/VARIABLE=VALUE"}},
		"a variable of a container not in there": {overrides: overrides{env: []string{"web/A=b"}}, want: []string{"no container is named web"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := build("testdata/app", tc.overrides)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// manager is the container of that name in testdata/app.
func manager(image, related string) map[string]any {
	return map[string]any{"name": "manager", "image": image, "env": []any{
		map[string]any{"name": "OTHER", "value": "kept"},
		map[string]any{"name": "RELATED_IMAGE_MEMCACHED", "value": related},
	}}
}

func TestTwoImagesOfTheSameLastPart(t *testing.T) {
	_, err := fullName("app", []string{"a.example.com/app:1", "b.example.com:5000/app@" + digest, "a.example.com/app:2"})
	if err == nil || !strings.Contains(err.Error(), "write one of them whole: a.example.com/app, b.example.com:5000/app") {
		t.Errorf("error: %v", err)
	}
}

func find(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind {
			return o
		}
	}
	t.Fatalf("the build has no %s", kind)
	return nil
}
