// Package olm tests the committed files in bundle/: they must be the same as the ones that their sources generate,
// follow the rules of OLM and OperatorHub, and name the same architectures and capability level as the rest of the
// repository.
package olm

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

const (
	root      = "../.."
	bundleDir = root + "/" + bundle.Dir

	csvFile = bundle.CSVFile
)

// TestBundleAndCatalogAreWhatTheirSourcesGenerate generates copies of the bundle and the catalog, with the options that
// they contain, and compares them. The generation also checks the rules of OLM and OperatorHub.
func TestBundleAndCatalogAreWhatTheirSourcesGenerate(t *testing.T) {
	dir, have := t.TempDir(), tree.Read(t, bundleDir)
	tree.Write(t, dir, have)
	if err := catalog.Renew(t.Context(), root, dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree.Read(t, dir), have); diff != "" {
		t.Errorf("run make generate (-sources +bundle):\n%s", diff)
	}
}

func committed(t *testing.T) bundle.Files {
	t.Helper()
	files, err := bundle.Read(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// TestTheSettingsOfArgoCDNameTheCatalogOfThisTree compares the catalog image in the settings, if the settings name the
// registry of the last release. Users with a separate catalog may pin any image.
func TestTheSettingsOfArgoCDNameTheCatalogOfThisTree(t *testing.T) {
	s, err := values.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	index, err := bundle.CatalogImage.Build(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	registry := regexp.MustCompile(`(?m)^REGISTRY \?= (\S+)$`).FindSubmatch(makefile)
	if registry == nil {
		t.Fatal("the Makefile has no line REGISTRY ?= host")
	}
	name, got, _ := strings.Cut(s.CatalogImage, "@")
	if strings.HasPrefix(name, string(registry[1])+"/") && got != want.String() {
		t.Errorf("%s has the digest %s, the catalog %s: run make catalog", values.Path, got, want)
	}
}
