package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// files is a bundle, as far as a catalog looks into it.
func files(version, channels, skipRange string) bundle.Files {
	return bundle.Files{
		"manifests/memcached-operator.clusterserviceversion.yaml": "metadata:\n  name: memcached-operator.v" + version +
			"\n  annotations: {olm.skipRange: '" + skipRange + "'}\nspec: {version: " + version + "}\n",
		"metadata/annotations.yaml": "annotations:\n  operators.operatorframework.io.bundle.channels.v1: " + channels +
			"\n  operators.operatorframework.io.bundle.channel.default.v1: stable\n",
	}
}

func add(t *testing.T, c *Catalog, version, channels string) {
	t.Helper()
	_, oldest := c.Previous("candidate", version)
	if err := c.Add(files(version, channels, SkipRange(oldest, version)), "registry.example.com/bundle:v"+version); err != nil {
		t.Fatal(err)
	}
}

func TestVersionsFollowUponOneAnotherInEachChannel(t *testing.T) {
	c := &Catalog{}
	add(t, c, "0.1.0", "stable,candidate")
	add(t, c, "0.2.0-rc.1", "candidate")
	add(t, c, "0.2.0", "stable,candidate")
	add(t, c, "0.2.0", "stable,candidate") // once more: it is written anew, not added
	got := map[string][]Entry{}
	for _, channel := range c.Channels {
		got[channel.Name] = channel.Entries
	}
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
	if len(c.Bundles) != 3 || len(c.Packages) != 1 {
		t.Errorf("%d bundles, %d packages", len(c.Bundles), len(c.Packages))
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
		image string
		want  string
	}{
		"a version older than its channel's newest": {files("0.1.0", "candidate", ""), "registry.example.com/b:1", "is older than 0.2.0 in the channel candidate"},
		"an image without a registry":               {files("0.3.0", "stable", ""), "bundle:v0.3.0", "--bundle-image"},
		"a bundle without a version":                {files("x", "stable", ""), "registry.example.com/b:1", "make bundle"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &Catalog{}
			add(t, c, "0.2.0", "candidate")
			before, _ := c.String()
			err := c.Add(tc.files, tc.image)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if after, _ := c.String(); after != before {
				t.Error("the catalog was changed")
			}
		})
	}
}
