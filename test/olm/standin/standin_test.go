package standin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/registry"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

const bundleDir = "../../../" + bundle.Dir

func TestABundleIsTheSameInItsImage(t *testing.T) {
	index, err := bundle.Image.Build(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := oci.Push(t.Context(), index, registry.New(t)+"/bundle:v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Pull(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	want, err := bundle.Read(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	for path := range want {
		if !strings.HasPrefix(path, "manifests/") && !strings.HasPrefix(path, "metadata/") {
			delete(want, path)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
