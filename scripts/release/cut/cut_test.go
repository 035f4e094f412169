package cut

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	team      = "registry.acme.test/team"
	version   = "20000.0.0" // newer than any version that the tree may have
	later     = "20000.1.0"
	memcached = "registry.acme.test/memcached:1.6.45@sha256:2222222222222222222222222222222222222222222222222222222222222222"

	page      = "docs/page.md"
	csvFile   = "bundle/manifests/memcached-operator.clusterserviceversion.yaml"
	agentMain = "operator/cmd/agent/main.go"
)

// release returns a release without a problem. Each case changes one thing in it. The digest of the agent's image is
// made from the parameter agent.
func release(root, version, agent string) *Release {
	return &Release{
		Root: root, Version: version, Registry: team, MemcachedImage: memcached,
		Build: func(context.Context, []v1.Platform, func(string), ...oci.Program) ([]v1.ImageIndex, error) {
			operatorIndex, err := oci.Files(nil, map[string]string{"operator": version})
			agentIndex, agentErr := oci.Files(nil, map[string]string{"agent": agent})
			snapshotIndex, snapshotErr := oci.Files(nil, map[string]string{"snapshot": version})
			return []v1.ImageIndex{operatorIndex, agentIndex, snapshotIndex}, errors.Join(err, agentErr, snapshotErr)
		},
	}
}

func TestAReleaseIsWrittenIntoEveryPlaceAndOnlyOnce(t *testing.T) {
	root := repository(t)
	before := tree.Read(t, root)
	dry := prepare(t, release(root, version, "1"), true)
	if diff := cmp.Diff(before, tree.Read(t, root)); diff != "" {
		t.Fatalf("a dry run changed the tree (-before +after):\n%s", diff)
	}
	report := prepare(t, release(root, version, "1"), false)
	if diff := cmp.Diff(strings.Replace(dry, "Would be written", "Written", 1), report); diff != "" {
		t.Errorf("reports (-dry +real):\n%s", diff)
	}
	for _, want := range []string{
		team + "/memcached-operator-bundle:v" + version + "\n    sha256:", "git tag v" + version,
		"make release VERSION=" + version + " REGISTRY=" + team + " OUT=dist\n", "since v0.0.1", "\n- one: a change\n",
	} {
		if !strings.Contains(report, want) || strings.Contains(report, "Everything before") {
			t.Errorf("the report does not hold %q, or more than is new:\n%s", want, report)
		}
	}
	made := writeTo(t, commitRelease(t, root, version))
	if want := []string{"release: v" + version, "one: a change"}; made.LastTag != "v0.0.1" || !slices.Equal(made.Subjects, want) {
		t.Errorf("commits since %s: %q, want %q", made.LastTag, made.Subjects, want)
	}
	after := tree.Read(t, root)
	if diff := cmp.Diff(after, tree.Read(t, made.Dir)); diff != "" {
		t.Errorf("the same release of the commit before it differs (-before +after):\n%s", diff)
	}
	operator, agent, snapshot := made.Images[0], made.Images[1], made.Images[2]
	for file, lines := range map[string][]string{
		"Makefile":  {"VERSION ?= " + version + "\n", "REGISTRY ?= " + team + "\n"},
		managerFile: {"image: " + operator.String() + "\n", "value: " + agent.String() + "\n", "value: " + snapshot.String() + "\n", "value: " + memcached + "\n"},
		values.Path: {
			"operatorImage: " + operator.String() + "\n", "agentImage: " + agent.String() + "\n", "snapshotImage: " + snapshot.String() + "\n", "# The operator's image",
			"memcachedImage: " + memcached + "\n", "catalogImage: " + made.Images[4].ByDigest() + "\n",
		},
		page: {
			"Since 0.0.1.\n", "VERSION=" + version + "\n", "newTag: " + version + "\n", "\n" + team + "/memcached-operator\n",
		},
		releasedCRD + "/" + version + ".yaml":           {"name: memcacheds."},
		released + "/" + version + "/a-size-alone.yaml": {"kind: Deployment"},
		csvFile: {
			"name: memcached-operator.v" + version + "\n", "image: " + operator.ByDigest() + "\n", "image: " + agent.ByDigest() + "\n", "image: " + snapshot.ByDigest() + "\n",
			`createdAt: "2026-01-31T12:00:00Z"`, `disconnected: "true"`,
		},
		"operator/config/monitoring/rules.yaml":          {"/blob/v" + version + "/docs/runbooks/MemcachedDown.md\n"},
		"operator/config/monitoring/prometheusrule.yaml": {"/blob/v" + version + "/docs/runbooks/MemcachedDown.md\n"},
		"operator/config/monitoring/dashboards/cache.json": {
			"/blob/v" + version + "/docs/runbooks/MemcachedDown.md", "/blob/v" + version + "/docs/monitoring.md#dashboards",
		},
		"bundle/catalog/memcached-operator/catalog.yaml": {"image: " + made.Images[3].ByDigest() + "\n"},
	} {
		for _, want := range lines {
			if !strings.Contains(after[file], want) {
				t.Errorf("%s does not hold %q:\n%.3000s", file, want, after[file])
			}
		}
	}
}

// commitRelease commits the changes of Prepare, with a later time, and returns the same release.
func commitRelease(t *testing.T, root, version string) *Release {
	t.Helper()
	tree.Git(t, root, "add", "--all")
	tree.Git(t, root, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "release: v"+version)
	tree.Git(t, root, "tag", "v"+version)
	r := release(root, version, "1")
	r.MemcachedImage = ""
	return r
}

func TestACandidateIsNotForAllUsers(t *testing.T) {
	root := repository(t)
	before := tree.Read(t, root)[page]
	r := release(root, version+"-rc.1", "1")
	r.MemcachedImage = "docker.io/library/memcached:1.6.45"
	made := writeTo(t, r)
	after := tree.Read(t, made.Dir)
	_, stable, _ := strings.Cut(after["bundle/catalog/memcached-operator/catalog.yaml"], "name: stable\n")
	stable, _, _ = strings.Cut(stable, "---")
	if strings.Contains(stable, "rc.1") || after[page] != before {
		t.Errorf("the channel stable is\n%s\nthe documentation is\n%s", stable, after[page])
	}
	if !strings.Contains(after[csvFile], `disconnected: "false"`) {
		t.Errorf("the bundle of an image without a digest declares support for disconnected clusters:\n%s", after[csvFile])
	}
}

func TestTheNextRelease(t *testing.T) {
	root := repository(t)
	prepare(t, release(root, version, "1"), false)
	commitRelease(t, root, version)
	reset(t, root)
	t.Run("names another agent only if the agent has another version", func(t *testing.T) { assertAgent(t, root) })
	t.Run("is refused before anything is written", func(t *testing.T) { assertRefused(t, root) })
}

func assertAgent(t *testing.T, root string) {
	t.Helper()
	first, err := programImages[1].Read(root)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(r *Release)
		same   bool
	}{
		"another Go builds another image": {func(*Release) {}, true},
		"changes of other files": {func(*Release) {
			for _, file := range []string{"operator/cmd/manager/more.go", "operator/cmd/agent/more_test.go"} {
				tree.Write(t, root, map[string]string{file: "package main\n"})
			}
		}, true},
		"another version of the agent": {func(*Release) {
			tree.Write(t, root, map[string]string{agentVersion: "30.0.0\n"})
			tree.Write(t, root, map[string]string{agentMain: tree.Read(t, root)[agentMain] + "// Changed.\n"})
		}, false},
		"another memcached": {func(r *Release) { r.MemcachedImage = "docker.io/library/memcached:1.6.0" }, true},
		"another registry":  {func(r *Release) { r.Registry = "registry.acme.test/another" }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			defer reset(t, root)
			r := release(root, later, "2")
			tc.change(r)
			commit(t, root, "a change")
			made := writeTo(t, r)
			for _, place := range []worktree.Place{memcachedImage, {File: values.Path, Find: `memcachedImage: (\S+)`}} {
				if image, err := place.Read(made.Dir); err != nil || image != r.MemcachedImage {
					t.Errorf("%s names %s, want %s, error %v", place.File, image, r.MemcachedImage, err)
				}
			}
			agent := made.Images[1]
			if same := agent.String() == first; same != tc.same || same != (agent.Content == nil) {
				t.Errorf("the agent is %s, was %s, want the same: %v", agent, first, tc.same)
			}
		})
	}
}

func assertRefused(t *testing.T, root string) {
	t.Helper()
	tests := map[string]struct {
		change func(t *testing.T, r *Release)
		want   []string
	}{
		"no version":                {func(_ *testing.T, r *Release) { r.Version = "0.2" }, []string{"--version", `"0.2"`, "three numbers"}},
		"an older version":          {func(_ *testing.T, r *Release) { r.Version = "0.0.9" }, []string{"is not newer than the last release, " + version}},
		"a released version":        {func(_ *testing.T, r *Release) { r.Version = version }, []string{"the tag v" + version + " is at another commit"}},
		"no registry":               {func(_ *testing.T, r *Release) { r.Registry = "" }, []string{"--registry", "registry.example.com/team"}},
		"a registry without a host": {func(_ *testing.T, r *Release) { r.Registry = "team" }, []string{`--registry "team"`, "names no registry"}},
		"uncommitted changes": {
			func(t *testing.T, r *Release) {
				tree.Write(t, r.Root, map[string]string{"one": "changed", "new": ""})
			},
			[]string{"uncommitted changes", "M one", "?? new"},
		},
		"a shallow clone": {
			func(t *testing.T, r *Release) {
				clone := t.TempDir()
				tree.Git(t, r.Root, "clone", "--quiet", "--depth", "1", "file://"+r.Root, clone)
				r.Root = clone
			},
			[]string{"this clone is shallow", "git fetch --unshallow --tags"},
		},
		"an API that breaks objects": {
			func(t *testing.T, r *Release) {
				tree.Write(t, r.Root, map[string]string{crdFile: strings.ReplaceAll(tree.Read(t, r.Root)[crdFile], "maximum: 1000", "maximum: 500")})
				commit(t, r.Root, "api: a bound that is tighter")
			},
			[]string{"since " + version + ".yaml: v1 spec.size: maximum was 1000, is 500"},
		},
		"an agent that changed with the same version": {
			func(t *testing.T, r *Release) {
				tree.Write(t, r.Root, map[string]string{agentMain: tree.Read(t, r.Root)[agentMain] + "// Changed.\n"})
				commit(t, r.Root, "agent: a change")
			},
			[]string{"changed since v" + version + ", in " + agentMain, "raise the version in " + agentVersion},
		},
		"a folder of another release in the tree": {
			func(t *testing.T, r *Release) {
				tree.Write(t, r.Root, map[string]string{"out/one/release.json": "{}"})
				r.Out = filepath.Join(r.Root, "o*")
			},
			[]string{"?? out/"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			defer reset(t, root)
			r := release(root, later, "2")
			tc.change(t, r)
			before := tree.Git(t, r.Root, "status", "--porcelain")
			var out strings.Builder
			err := r.Prepare(t.Context(), false, &out)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not hold %q", err, want)
				}
			}
			if diff := cmp.Diff(before, tree.Git(t, r.Root, "status", "--porcelain")); diff != "" || out.Len() > 0 {
				t.Errorf("it wrote %s\n%s", &out, diff)
			}
		})
	}
	t.Run("the folder of this release in the tree is allowed", func(t *testing.T) {
		r := release(root, later, "1")
		r.Out = filepath.Join(root, "out/one")
		tree.Write(t, root, map[string]string{"out/one/release.json": "{}"})
		writeTo(t, r)
	})
}
