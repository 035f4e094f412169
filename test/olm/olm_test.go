// Package olm holds bundle/ and its catalog to the rules of those who read them: OLM v0, OLM v1, their validators and
// the community's catalogs. Each rule is shown to notice a copy that breaks it.
package olm

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/check"
	"github.com/example-inc/memcached-operator/scripts/release/emit"
)

const (
	root      = "../.."
	bundleDir = root + "/" + bundle.Dir

	csvFile         = "manifests/memcached-operator.clusterserviceversion.yaml"
	annotationsFile = "metadata/annotations.yaml"
)

func TestTheBundleKeepsEveryRule(t *testing.T) {
	for _, problem := range check.Bundle(committed(t)) {
		t.Error(problem)
	}
}

func TestTheCatalogKeepsEveryRule(t *testing.T) {
	c, err := catalog.Load(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range check.Catalog(c) {
		t.Error(problem)
	}
}

// TestTheBundleIsWhatItsSourcesMake makes it once more, by what the committed one says of itself.
func TestTheBundleIsWhatItsSourcesMake(t *testing.T) {
	have := committed(t)
	options, err := emit.Recorded(have)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := os.ReadFile(root + "/operator/config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	options.AgentImage = otherThan(string(manager), options.AgentImage)
	options.MemcachedImage = otherThan(string(manager), options.MemcachedImage)
	want, err := bundle.Build(t.Context(), root, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(merged(want, have))) {
		if want[name] != have[name] {
			t.Errorf("%s is not what its sources make: run make bundle catalog, and look at the difference", name)
		}
	}
}

// otherThan is an image that make bundle was given: by digest, or from a repository that the manifests do not name. Any
// other must be that of the manifests.
func otherThan(manifests, image string) string {
	name := image[:strings.LastIndex(image, ":")]
	if !strings.Contains(image, "@") && strings.Contains(manifests, " "+name+":") {
		return ""
	}
	return image
}

// TestTheCatalogListsTheBundle adds the bundle once more: nothing may change.
func TestTheCatalogListsTheBundle(t *testing.T) {
	c, err := catalog.Load(bundleDir)
	if err != nil {
		t.Fatal(err)
	}
	before := text(t, c)
	name := versionName(t, committed(t))
	i := slices.IndexFunc(c.Bundles, func(b *catalog.Bundle) bool { return b.Name == name })
	if i < 0 {
		t.Fatalf("%s is not in the catalog: run make catalog", name)
	}
	if err := c.Add(committed(t), c.Bundles[i].Image); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text(t, c), before); diff != "" {
		t.Errorf("run make catalog (-bundle +catalog):\n%s", diff)
	}
}

// TestEveryRuleIsBrokenByACase keeps the tables of this package complete.
func TestEveryRuleIsBrokenByACase(t *testing.T) {
	broken := map[string]bool{}
	for _, tc := range brokenBundles {
		broken[tc.rule] = true
	}
	for _, tc := range brokenCatalogs {
		broken[tc.rule] = true
	}
	for _, tc := range brokenSubmissions {
		broken[tc.rule] = true
	}
	for _, rule := range slices.Concat(check.BundleRules(), check.CatalogRules(), check.OperatorHubRules()) {
		if !broken[rule] {
			t.Errorf("no case breaks the rule that %s", rule)
		}
		delete(broken, rule)
	}
	for rule := range broken {
		t.Errorf("a case breaks %q, which is no rule", rule)
	}
}

// assertBroken checks that the rule is broken, and that it is said with these words. What breaks one rule may break
// others too.
func assertBroken(t *testing.T, problems []check.Problem, rule, want string) {
	t.Helper()
	said := slices.ContainsFunc(problems, func(p check.Problem) bool {
		return p.Rule == rule && strings.Contains(p.Message, want)
	})
	if !said {
		t.Errorf("%s: nothing says %q: %v", rule, want, problems)
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

func versionName(t *testing.T, files bundle.Files) string {
	t.Helper()
	var csv struct{ Metadata struct{ Name string } }
	unmarshal(t, files[csvFile], &csv)
	return csv.Metadata.Name
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
