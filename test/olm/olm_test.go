// Package olm tests what is committed in bundle/: that it is what its sources generate, that it keeps the rules of OLM
// and OperatorHub, and that the architectures and the capability level in it are those of the rest of the repository.
package olm

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

const (
	root      = "../.."
	bundleDir = root + "/" + bundle.Dir

	csvFile = bundle.CSVFile
)

// TestTheBundleIsWhatItsSourcesGenerate generates it again, by the options that the committed one states. Build checks
// the rules of OLM and OperatorHub.
func TestTheBundleIsWhatItsSourcesGenerate(t *testing.T) {
	have := committed(t)
	v, err := have.Version()
	if err != nil {
		t.Fatal(err)
	}
	options, err := v.Renewed(root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := bundle.Build(t.Context(), root, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(merged(want, have))) {
		if want[name] != have[name] {
			t.Errorf("%s is not what its sources generate: run make generate, and look at the difference", name)
		}
	}
}

// TestTheCatalogListsTheBundle adds the bundle once more: nothing may change.
func TestTheCatalogListsTheBundle(t *testing.T) {
	c, err := catalog.Load(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	before := text(t, c)
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	v, err := committed(t).Version()
	if err != nil {
		t.Fatal(err)
	}
	listed := c.Bundle(v.Metadata.Name)
	if listed == nil {
		t.Fatalf("%s is not in the catalog: run make catalog", v.Metadata.Name)
	}
	if err := c.Add(committed(t), listed.Image); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text(t, c), before); diff != "" {
		t.Errorf("run make catalog (-bundle +catalog):\n%s", diff)
	}
}

func merged(a, b bundle.Files) bundle.Files {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func committed(t *testing.T) bundle.Files {
	t.Helper()
	files, err := bundle.Read(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func text(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	text, err := c.String()
	if err != nil {
		t.Fatal(err)
	}
	return text
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
