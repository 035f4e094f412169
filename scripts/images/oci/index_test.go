package oci

import (
	"archive/tar"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func TestAnImageOfFilesHoldsTheirFoldersToo(t *testing.T) {
	index, err := Files(nil, map[string]string{"a/b/c": "text", "a/d": ""})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	archive := tar.NewReader(mutate.Extract(image))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, header.FileInfo().Mode().String()+" "+header.Name)
	}
	want := []string{"drwxr-xr-x a", "drwxr-xr-x a/b", "-rw-r--r-- a/b/c", "-rw-r--r-- a/d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARegistryIsAskedForDigests(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	index, err := Files(map[string]string{"a": "b"}, map[string]string{"file": "text"})
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := PushIndex(t.Context(), index, host+"/team/files:v1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Digest(t.Context(), host+"/team/files:v1")
	if err != nil || got != pushed {
		t.Errorf("the registry has %s, pushed was %s, error %v", got, pushed, err)
	}
	_, err = Digest(t.Context(), host+"/team/files:v2")
	if err == nil || !strings.Contains(err.Error(), "does not have "+host+"/team/files:v2") {
		t.Errorf("an image that is not there: %v", err)
	}
}

func TestAnIndexOfNothingIsRefused(t *testing.T) {
	if _, err := Index(); err == nil {
		t.Error("it is made")
	}
}
