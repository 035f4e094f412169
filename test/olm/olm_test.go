// Package olm tests what is committed in bundle/: that it is what its sources generate, that it keeps the rules of OLM
// and OperatorHub, and that the architectures and the capability level in it are those of the rest of the repository.
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

// TestBundleAndCatalogAreWhatTheirSourcesGenerate renews copies of them, by the options that they state. That also checks
// the rules of OLM and OperatorHub.
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

// TestTheSettingsOfArgoCDNameTheCatalogOfThisTree, as long as they name the registry of the last release. Whoever has a
// separate catalog may pin any.
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
