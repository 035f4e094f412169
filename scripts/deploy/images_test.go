package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestSetImageReplacesImagesByNameOrLastPart(t *testing.T) {
	const proxy, app, memcached = "registry.example.com/proxy:1.0.0", "registry.example.com/app:0.1.0", "registry.example.com/memcached:1.6"
	tests := map[string]struct {
		setImage []string
		want     []string
	}{
		"no replacement":                   {nil, []string{app, memcached, proxy}},
		"another registry and tag":         {[]string{"registry.example.com/app=localhost:5001/app:dev"}, []string{"localhost:5001/app:dev", memcached, proxy}},
		"a digest, which replaces the tag": {[]string{"proxy=registry.example.com/proxy@" + digest}, []string{app, memcached, "registry.example.com/proxy@" + digest}},
		"an image in an environment variable": {
			[]string{"app=localhost:5001/app:dev", "memcached=localhost:5001/memcached:dev"},
			[]string{"localhost:5001/app:dev", "localhost:5001/memcached:dev", proxy},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects, err := build("testdata/app", tc.setImage)
			if err != nil {
				t.Fatal(err)
			}
			got, err := imagesOf(objects)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("error %v, images (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestSetImageRefuses(t *testing.T) {
	tests := map[string]struct{ arg, want string }{
		"an argument without a reference":   {"app", "NAME=REF"},
		"an invalid reference":              {"app=UPPER case", "UPPER case"},
		"a digest without a name":           {"app=@" + digest, "is no image reference"},
		"a name that no container has":      {"example.com/app=b:1", "the images are: registry.example.com/app:0.1.0, "},
		"a fragment of the last part":       {"pp=b:1", "the images are: registry.example.com/app:0.1.0, "},
		"a last part that two images share": {"twin=b:1", "write one in full: a.example.com/twin, b.example.com:5000/twin"},
	}
	used := []string{"registry.example.com/app:0.1.0", "a.example.com/twin:1", "a.example.com/twin:2", "b.example.com:5000/twin@" + digest}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := parseImage(tc.arg, used); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v does not contain %q", err, tc.want)
			}
		})
	}
}
