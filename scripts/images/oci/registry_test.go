package oci

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func imageFor(t *testing.T, os, architecture string) v1.Image {
	t.Helper()
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: os, Architecture: architecture})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestARegistryIsAskedForPlatforms(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	ref := strings.TrimPrefix(server.URL, "http://") + "/team/image:v1"
	s390x, amd64 := imageFor(t, "linux", "s390x"), imageFor(t, "linux", "amd64")
	manifests := []Manifest{{"linux/amd64", digest(t, amd64).String()}, {"linux/s390x", digest(t, s390x).String()}}
	index, err := Index(s390x, imageFor(t, "unknown", "unknown"), amd64)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		push func() (string, error)
		want Description
	}{
		"of an index, without what is attached to it": {
			func() (string, error) { return PushIndex(t.Context(), index, ref) },
			Description{Digest: hash.String(), Index: true, Platforms: manifests},
		},
		"of an image alone": {
			func() (string, error) { return Push(t.Context(), s390x, ref) },
			Description{Digest: digest(t, s390x).String(), Platforms: manifests[1:]},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := tc.push(); err != nil {
				t.Fatal(err)
			}
			got, err := Describe(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestARegistryThatGivesNothingIsNamed(t *testing.T) {
	answer := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/" {
				w.WriteHeader(code)
			}
		})
	}
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tests := map[string]struct {
		handler http.Handler
		want    string
	}{
		"it has no such image":      {answer(http.StatusNotFound), "the registry does not have HOST/team/image:v1"},
		"it wants to know who asks": {answer(http.StatusUnauthorized), "the registry HOST does not show HOST/team/image:v1: log in by docker login"},
		"it forbids":                {answer(http.StatusForbidden), "does not show HOST/team/image:v1"},
		"it refuses otherwise":      {answer(http.StatusTeapot), "ask the registry for HOST/team/image:v1"},
		"it says nothing":           {silent, "the registry HOST can't be reached for HOST/team/image:v1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.handler)
			defer server.Close()
			host := strings.TrimPrefix(server.URL, "http://")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := Describe(ctx, host+"/team/image:v1")
			if want := strings.ReplaceAll(tc.want, "HOST", host); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		})
	}
}

func TestParsePlatforms(t *testing.T) {
	tests := map[string]struct {
		list []string
		want string // the error, if it begins with --
	}{
		"are sorted":                        {[]string{"linux/s390x", "linux/amd64"}, "linux/amd64 linux/s390x"},
		"come once":                         {[]string{"linux/s390x", "linux/s390x"}, "linux/s390x"},
		"may have a variant":                {[]string{"linux/arm/v7"}, "linux/arm/v7"},
		"may be none":                       {nil, ""},
		"an architecture alone is too few":  {[]string{"arm64"}, `--platform "arm64": write a list like linux/amd64,linux/arm64`},
		"a list with a hole is a typo":      {[]string{"linux/arm64", ""}, `--platform ""`},
		"more than a variant is not a name": {[]string{"linux/arm/v7/x"}, `--platform "linux/arm/v7/x"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			platforms, err := ParsePlatforms(tc.list)
			var names []string
			for _, platform := range platforms {
				names = append(names, platform.String())
			}
			got := strings.Join(names, " ")
			if err != nil {
				got = err.Error()
			}
			if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
				t.Errorf("ParsePlatforms(%q) = %s, want %s", tc.list, got, tc.want)
			}
		})
	}
}
