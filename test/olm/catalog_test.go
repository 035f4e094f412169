package olm

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/check"
	"github.com/example-inc/memcached-operator/scripts/release/image"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// brokenCatalog is a catalog of two versions in which a text is another.
type brokenCatalog struct {
	rule     string
	old, new string
	want     string
}

const (
	onePackage  = "there is one package"
	tells       = "a version tells its package and its version"
	propRule    = "a version has the properties that it needs, and none that OLM v1 refuses"
	imgRule     = "the images of a version are well-formed"
	heldRule    = "channels hold versions that are there, each once"
	headRule    = "a channel has one head"
	leadRule    = "each version leads to the head"
	skipRule    = "what is skipped is named"
	channelRule = "channels are of the package, and named once"
)

const candidateEntries = `name: candidate
entries:
- name: memcached-operator.v0.1.0
- name: memcached-operator.v0.2.0-rc
  replaces: memcached-operator.v0.1.0
`

// strandedEntries: no way leads on from 0.1.0, though it is no head.
const strandedEntries = `name: candidate
entries:
- name: memcached-operator.v0.1.0
  replaces: memcached-operator.v0.1.0
- name: memcached-operator.v0.2.0-rc
`

var brokenCatalogs = map[string]brokenCatalog{
	"no package":                        {onePackage, "schema: olm.package\n", "schema: olm.other\n", "0 documents"},
	"a package of an impossible name":   {onePackage, "schema: olm.package\nname: memcached-operator", "schema: olm.package\nname: memcached.operator", `"memcached.operator" is no name`},
	"a package without a picture":       {onePackage, "base64data: ", "base64: ", "has no icon"},
	"a default channel that is none":    {"the default channel is one", "defaultChannel: stable", "defaultChannel: fast", `"fast" is not there`},
	"a channel of another package":      {channelRule, "schema: olm.channel\npackage: memcached-operator", "schema: olm.channel\npackage: other", `is of "other"`},
	"a channel twice":                   {channelRule, "name: candidate\nentries", "name: stable\nentries", `channel "stable" is there twice`},
	"a version of another package":      {"versions are named once", "name: memcached-operator.v0.1.0\npackage: memcached-operator", "name: memcached-operator.v0.1.0\npackage: other", `is of "other"`},
	"a version twice":                   {"versions are named once", "name: memcached-operator.v0.2.0-rc\npackage", "name: memcached-operator.v0.1.0\npackage", `"memcached-operator.v0.1.0" is there twice`},
	"a version without a version":       {tells, "- type: olm.package\n  value:\n    packageName: memcached-operator\n    version: 0.2.0-rc", "- type: other\n  value: {}", "has 0 properties olm.package"},
	"a version that is none":            {tells, "version: 0.2.0-rc", "version: 0.2", `version "0.2"`},
	"two bundles of one version":        {tells, "version: 0.2.0-rc", "version: 0.1.0", "0.1.0 is there twice"},
	"a property of another package":     {tells, "packageName: memcached-operator", "packageName: other", "its property says other"},
	"a version whose API nobody knows":  {propRule, "type: olm.gvk", "type: gvk", "has no property olm.gvk"},
	"a whole bundle inside the catalog": {propRule, "type: olm.csv.metadata", "type: olm.bundle.object", "has a property olm.bundle.object"},
	"a dependency":                      {propRule, "- type: olm.gvk\n", "- type: olm.package.required\n  value: {}\n- type: olm.gvk\n", "has a property olm.package.required"},
	"a bundle without a registry":       {imgRule, "image: registry.example.com/memcached-operator-bundle:v0.1.0", "image: memcached-operator-bundle:v0.1.0", "names no registry"},
	"a related image that is none":      {imgRule, "image: docker.io/library/memcached:1.6.45", "image: docker.io/library/Memcached", "must be lowercase"},
	"a deprecation of nothing":          {"deprecations are of what is there", "schema: olm.package\n", "schema: olm.deprecations\nentries: [{reference: {schema: olm.bundle, name: gone}, message: m}]\n---\nschema: olm.package\n", "gone is deprecated, and not there"},
	"a deprecation without a reason":    {"deprecations are of what is there", "schema: olm.package\n", "schema: olm.deprecations\nentries: [{reference: {schema: olm.channel, name: stable}}]\n---\nschema: olm.package\n", "has no message"},
	"a channel of nothing":              {heldRule, "---\nschema: olm.bundle\nname: memcached-operator.v0.1.0", "---\nschema: olm.channel\npackage: memcached-operator\nname: fast\nentries: []\n---\nschema: olm.bundle\nname: memcached-operator.v0.1.0", "channel fast is empty"},
	"a version that is not there":       {heldRule, candidateEntries, strings.Replace(candidateEntries, "- name", "- name: memcached-operator.v0.0.9\n- replaces: memcached-operator.v0.0.9\n  name", 1), "v0.0.9 is in channel candidate, and not there"},
	"a version in no channel":           {"each version is in a channel", "\n- name: memcached-operator.v0.2.0-rc\n  replaces: memcached-operator.v0.1.0\n  skipRange: '>=0.1.0 <0.2.0-rc'", "", "v0.2.0-rc is in no channel"},
	"two heads":                         {headRule, "  replaces: memcached-operator.v0.1.0\n", "", "has 2 heads"},
	"versions that lead in a circle":    {headRule, "name: candidate\nentries:\n- name: memcached-operator.v0.1.0\n", "name: candidate\nentries:\n- name: memcached-operator.v0.1.0\n  replaces: memcached-operator.v0.2.0-rc\n", "has 0 heads"},
	"a version left behind":             {leadRule, candidateEntries, strandedEntries, "memcached-operator.v0.1.0 is stranded in channel candidate"},
	"a version skipped without a name":  {skipRule, "  skipRange: '>=0.1.0 <0.2.0-rc'", "  skips: ['']", "skips a version without a name"},
	"a range that is none":              {skipRule, "skipRange: '>=0.1.0 <0.2.0-rc'", "skipRange: older", `skipRange "older"`},
	"a way back":                        {"a newer version never leads to an older one", "name: stable\nentries:\n- name: memcached-operator.v0.1.0\n", "name: stable\nentries:\n- name: memcached-operator.v0.1.0\n  replaces: memcached-operator.v0.2.0\n", "v0.1.0 in stable replaces memcached-operator.v0.2.0"},
}

func TestACatalogThatBreaksARuleIsNoticed(t *testing.T) {
	good := text(t, twoVersions(t))
	for name, tc := range brokenCatalogs {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(good, tc.old) {
				t.Fatalf("the catalog does not hold %q:\n%s", tc.old, good)
			}
			c, err := catalog.Parse([]byte(strings.ReplaceAll(good, tc.old, tc.new)))
			if err != nil {
				t.Fatal(err)
			}
			assertBroken(t, check.Catalog(c), tc.rule, tc.want)
		})
	}
}

func TestACatalogThatCannotBeReadIsRefused(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a comment before the first line of hyphens is a document": {"# Generated.\n---\nschema: olm.package\n", "document 1 of the catalog: schema is missing"},
		"a document without a schema":                              {"schema: olm.package\n---\nname: x\n", "document 2 of the catalog: schema is missing"},
		"no YAML":                                                  {"schema: [\n", "document 1 of the catalog: yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := catalog.Parse([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAnUpgradeLeadsFromEachVersionToTheNext(t *testing.T) {
	c := twoVersions(t)
	for _, problem := range check.Catalog(c) {
		t.Error(problem)
	}
	got := map[string][]catalog.Entry{}
	for _, channel := range c.Channels {
		got[channel.Name] = channel.Entries
	}
	want := map[string][]catalog.Entry{
		"stable": {{Name: "memcached-operator.v0.1.0"}},
		"candidate": {
			{Name: "memcached-operator.v0.1.0"},
			{Name: "memcached-operator.v0.2.0-rc", Replaces: "memcached-operator.v0.1.0", SkipRange: ">=0.1.0 <0.2.0-rc"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
}

// twoVersions is a catalog of 0.1.0 and a candidate for 0.2.0, made of today's sources.
func twoVersions(t *testing.T) *catalog.Catalog {
	t.Helper()
	c := &catalog.Catalog{}
	for _, v := range []struct {
		version  string
		channels []string
	}{
		{"0.1.0", []string{"stable", "candidate"}},
		{"0.2.0-rc", []string{"candidate"}},
	} {
		previous, oldest := c.Previous("candidate", v.version)
		files, err := bundle.Build(t.Context(), root, bundle.Options{
			Version: v.version, Image: "registry.example.com/memcached-operator:" + v.version,
			Channels: v.channels, DefaultChannel: "stable",
			Replaces: previous, SkipRange: catalog.SkipRange(oldest, v.version), Digest: asAtFirst(t),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range check.Bundle(files) {
			t.Error(problem)
		}
		if err := c.Add(files, "registry.example.com/memcached-operator-bundle:v"+v.version); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestTheSettingsOfArgoCDNameTheCatalogOfThisTree, as long as they name the registry of the last release. Whoever has a
// catalog of their own may pin any.
func TestTheSettingsOfArgoCDNameTheCatalogOfThisTree(t *testing.T) {
	s, err := values.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := image.Catalog.Digest(bundleDir)
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
	if strings.HasPrefix(name, string(registry[1])+"/") && got != want {
		t.Errorf("%s has the digest %s, the catalog %s: run make catalog", values.Path, got, want)
	}
}
