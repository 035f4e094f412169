package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// files returns a bundle that has only the fields that a catalog reads.
func files(version, channels, skipRange string) bundle.Files {
	return bundle.Files{
		bundle.CSVFile: "metadata:\n  name: memcached-operator.v" + version +
			"\n  annotations: {olm.skipRange: '" + skipRange + "'}\nspec:\n  version: " + version +
			"\n  relatedImages: [{name: manager, image: 'registry.example.com/operator:" + version + "'}]\n",
		bundle.AnnotationsFile: "annotations:\n  operators.operatorframework.io.bundle.channels.v1: " + channels +
			"\n  operators.operatorframework.io.bundle.channel.default.v1: stable\n",
	}
}

func add(t *testing.T, c *Catalog, version, channels string) {
	t.Helper()
	_, skipRange := c.Previous("candidate", version)
	if err := c.Add(files(version, channels, skipRange), "registry.example.com/bundle:v"+version); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

func TestEachVersionReplacesTheOneBeforeItInItsChannels(t *testing.T) {
	c := &Catalog{}
	add(t, c, "0.1.0", "stable,candidate")
	add(t, c, "0.2.0-rc.1", "candidate")
	add(t, c, "0.2.0", "stable,candidate")
	add(t, c, "0.2.0", "stable,candidate") // added again, it replaces itself
	got := map[string][]Entry{"stable": c.entries("stable"), "candidate": c.entries("candidate")}
	const first, candidate, second = "memcached-operator.v0.1.0", "memcached-operator.v0.2.0-rc.1", "memcached-operator.v0.2.0"
	want := map[string][]Entry{
		"stable": {{Name: first}, {Name: second, Replaces: first, SkipRange: ">=0.1.0 <0.2.0"}},
		"candidate": {
			{Name: first},
			{Name: candidate, Replaces: first, SkipRange: ">=0.1.0 <0.2.0-rc.1"},
			{Name: second, Replaces: candidate, SkipRange: ">=0.1.0 <0.2.0"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
	if n := len(c.documents); n != 1+2+3 {
		t.Errorf("%d documents, want a package, two channels and three versions", n)
	}
}

func TestACatalogIsReadAsItIsWritten(t *testing.T) {
	c := &Catalog{}
	add(t, c, "0.1.0", "stable,candidate")
	want, err := c.String()
	if err != nil {
		t.Fatal(err)
	}
	const more = "---\nschema: olm.deprecations\npackage: memcached-operator\nentries: []\n"
	again, err := Parse([]byte(want + more))
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.String()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want+more, got); diff != "" {
		t.Errorf("(-written +read and written):\n%s", diff)
	}
}

func TestWhatACatalogRefuses(t *testing.T) {
	tests := map[string]struct {
		files bundle.Files
		want  string
	}{
		"a version older than its channel's newest": {files("0.1.0", "candidate", ""), "is older than 0.2.0, the newest version in the channel candidate"},
		"a bundle without a version":                {files("x", "stable", ""), "make bundle"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &Catalog{}
			add(t, c, "0.2.0", "stable,candidate")
			before, _ := c.String()
			err := c.Add(tc.files, "registry.example.com/b:1")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if after, _ := c.String(); after != before {
				t.Error("the catalog was changed")
			}
		})
	}
}

func TestACatalogThatIsRefused(t *testing.T) {
	c := &Catalog{}
	add(t, c, "0.1.0", "stable,candidate")
	add(t, c, "0.2.0", "stable,candidate")
	valid, err := c.String()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ old, new, want string }{
		"a default channel that does not exist":    {"defaultChannel: stable", "defaultChannel: fast", `the default channel "fast" does not exist`},
		"a version that the catalog does not have": {"- name: memcached-operator.v0.1.0\n", "- name: memcached-operator.v0.0.9\n", "names the version memcached-operator.v0.0.9, which the catalog does not have"},
		"two heads": {"  replaces: memcached-operator.v0.1.0\n", "", "has 2 versions that no other version replaces"},
		"a comment before the first line of hyphens, which is a document": {header, header + "---\n", "document 1 of the catalog: schema is missing"},
		"a document without a schema":                                     {"schema: olm.channel", "about: x", "schema is missing"},
		"no YAML":                                                         {"schema: olm.package", "schema: [", "document 1 of the catalog: yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(valid, tc.old, tc.new)
			if text == valid {
				t.Fatalf("the catalog does not hold %q:\n%s", tc.old, valid)
			}
			broken, err := Parse([]byte(text))
			if err == nil {
				err = broken.Check()
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestOneHeadUpgradesAllVersionsOfAChannel(t *testing.T) {
	tests := map[string]struct {
		entries []Entry
		want    string
	}{
		"replaced and skipped": {
			[]Entry{{Name: "v1"}, {Name: "v2", Replaces: "v1"}, {Name: "v3", Replaces: "v2", Skips: []string{"v2", "v2.1"}}, {Name: "v2.1"}}, "",
		},
		"the oldest replaces one of before":    {[]Entry{{Name: "v1", Replaces: "v0"}}, ""},
		"a circle":                             {[]Entry{{Name: "v1", Replaces: "v2"}, {Name: "v2", Replaces: "v1"}}, "has 0 versions that no other version replaces"},
		"a circle below the head":              {[]Entry{{Name: "v1", Replaces: "v2"}, {Name: "v2", Replaces: "v1"}, {Name: "v3", Replaces: "v2"}}, "v2 replaces itself"},
		"a version that no upgrade leads from": {[]Entry{{Name: "v1"}, {Name: "v2", Replaces: "v1"}, {Name: "v3", Skips: []string{"v2"}}}, "no upgrade leads from v1 to v3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(checkUpgrades("stable", tc.entries)); !strings.Contains(got, tc.want) || tc.want == "" && got != "<nil>" {
				t.Errorf("error %s, want %q", got, tc.want)
			}
		})
	}
}
