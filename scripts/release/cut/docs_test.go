package cut

import (
	"testing"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
)

func TestWhatTellsToUseAVersionFollowsTheRelease(t *testing.T) {
	tests := map[string]struct{ file, before, after string }{
		"a version for make": {"docs/olm.md", "make bundle VERSION=0.1.0", "make bundle VERSION=0.2.0"},
		"the catalog's image": {
			"docs/olm.md", "image: registry.example.com/memcached-operator-catalog:v0.1.0",
			"image: ghcr.io/acme/memcached-operator-catalog:v0.2.0",
		},
		"a ClusterServiceVersion":     {"docs/olm.md", "startingCSV: memcached-operator.v0.1.0", "startingCSV: memcached-operator.v0.2.0"},
		"a pin":                       {"docs/olm.md", "**Pin:** `version: 0.1.0`", "**Pin:** `version: 0.2.0`"},
		"a folder of OperatorHub":     {"docs/olm.md", "mkdir operators/memcached-operator/0.1.0", "mkdir operators/memcached-operator/0.2.0"},
		"a range of patches":          {"docs/olm.md", "      version: 0.1.x", "      version: 0.2.x"},
		"the ClusterExtension":        {versionRange, "path: /spec/source/catalog/version, value: 0.1.x}", "path: /spec/source/catalog/version, value: 0.2.x}"},
		"the chart's package":         {"docs/helm.md", "memcached-operator-0.1.0.tgz", "memcached-operator-0.2.0.tgz"},
		"the chart in Argo CD":        {"docs/helm.md", "    targetRevision: 0.1.0", "    targetRevision: 0.2.0"},
		"the chart in Flux":           {"docs/helm.md", "    tag: 0.1.0", "    tag: 0.2.0"},
		"what happened in the past":   {"docs/olm.md", "tried with 0.1.0", "tried with 0.1.0"},
		"a version of another thing":  {"docs/olm.md", "memcached:0.1.0", "memcached:0.1.0"},
		"a file that is no page":      {"docs/one.yaml", "version: 0.1.0", "version: 0.1.0"},
		"the agent, as long as it is": {"docs/agent.md", "memcached-agent:0.1.0", "memcached-agent:0.1.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			writeFile(t, root, makefile, "VERSION ?= 0.2.0\n")
			writeFile(t, root, agentVersion, "0.1.0\n")
			writeFile(t, root, tc.file, tc.before)
			if err := stampDocs(root, acme("0.2.0")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.after, read(t, root, tc.file)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestACandidateLeavesTheRangeAsItIs(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, versionRange, "value: 0.1.x")
	if err := stampDocs(root, acme("0.2.0-rc.1")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, root, versionRange); got != "value: 0.1.x" {
		t.Errorf("the range is %q", got)
	}
}

// acme is a release to another registry.
func acme(version string) *facts {
	return &facts{
		version:  semver.MustParse(version),
		oldImage: "registry.example.com/memcached-operator:0.1.0", image: "ghcr.io/acme/memcached-operator:" + version + "@" + other,
		oldAgent: "registry.example.com/memcached-agent:0.1.0", agent: "ghcr.io/acme/memcached-agent:0.1.0@" + other,
	}
}
