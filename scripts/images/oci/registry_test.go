package oci

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/example-inc/memcached-operator/internal/testing/registry"
)

func imageFor(t *testing.T, os, architecture string) v1.Image {
	t.Helper()
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: os, Architecture: architecture})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestTheRegistryDescribesWhatWasPushed(t *testing.T) {
	ref := registry.New(t) + "/team/image:v1"
	s390x, amd64 := imageFor(t, "linux", "s390x"), imageFor(t, "linux", "amd64")
	platforms := []string{"linux/amd64", "linux/s390x"}
	index, err := Index(s390x, imageFor(t, "unknown", "unknown"), amd64)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		push func() (string, error)
		want Description
	}{
		"an index, without attachments": {
			func() (string, error) { return Push(t.Context(), index, ref) },
			Description{Digest: digest(t, index), Index: true, Platforms: platforms},
		},
		"one image": {
			func() (string, error) { return Push(t.Context(), s390x, ref) },
			Description{Digest: digest(t, s390x), Platforms: platforms[1:]},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pushed, err := tc.push()
			if err != nil {
				t.Fatal(err)
			}
			if byDigest, err := Digest(t.Context(), ref); err != nil || byDigest != pushed {
				t.Errorf("digest %s, pushed %s, error %v", byDigest, pushed, err)
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

func TestAnErrorOfARegistryHasItsCause(t *testing.T) {
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
		"not found":     {answer(http.StatusNotFound), "the registry does not have HOST/team/image:v1"},
		"unauthorized":  {answer(http.StatusUnauthorized), "the registry HOST does not show HOST/team/image:v1: log in by docker login"},
		"forbidden":     {answer(http.StatusForbidden), "does not show HOST/team/image:v1"},
		"another error": {answer(http.StatusTeapot), "ask the registry for HOST/team/image:v1"},
		"no answer":     {silent, "the registry HOST can't be reached for HOST/team/image:v1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.handler)
			defer server.Close()
			host := strings.TrimPrefix(server.URL, "http://")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := Describe(ctx, host+"/team/image:v1")
			if want := strings.ReplaceAll(tc.want, "HOST", host); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		})
	}
}
