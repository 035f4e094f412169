package cut

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	built = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	other = "sha256:2222222222222222222222222222222222222222222222222222222222222222"

	registry = "registry.acme.test/team"
)

// good is a release with nothing to complain about; cases change one thing.
func good(root string) *Release {
	return &Release{
		Root: root, Version: "0.2.0", Registry: registry,
		Build: func(context.Context, string, string) (Digests, error) { return Digests{built, built}, nil },

		AgentSources: func(context.Context, string) ([]string, error) { return []string{"operator/cmd/agent"}, nil },
	}
}

func TestAReleaseIsWrittenIntoEveryPlace(t *testing.T) {
	root := repository(t)
	const image = registry + "/memcached-operator:0.2.0@" + built
	out := run(t, good(root))

	for file, want := range map[string][]string{
		"Makefile":                             {"VERSION ?= 0.2.0\n", "REGISTRY ?= " + registry + "\n"},
		"operator/config/manager/manager.yaml": {"image: " + image + "\n"},
		"gitops/settings/settings.yaml":        {"operatorImage: " + image + "\n", "# The operator's image"},
		"docs/install.md":                      {"Since 0.1.0.", "VERSION=0.2.0\n", "newTag: 0.2.0\n"},
		"test/crd/released/0.2.0.yaml":         {"name: memcacheds.cache.example.com\n"},
		templates + "/released/0.2.0/deployment/a-size-alone.yaml": {"kind: Deployment"},
		"bundle/manifests/memcached-operator.clusterserviceversion.yaml": {
			"name: memcached-operator.v0.2.0\n", "replaces: memcached-operator.v0.1.0\n", "image: " + registry + "/memcached-operator@" + built + "\n",
			"/memcached:1.6.45\n", `createdAt: "2026-01-31T12:00:00Z"`, `disconnected: "false"`,
		},
		"bundle/catalog/memcached-operator/catalog.yaml": {
			"image: " + registry + "/memcached-operator-bundle@sha256:", "- name: memcached-operator.v0.2.0\n  replaces: memcached-operator.v0.1.0\n",
		},
	} {
		content := read(t, root, file)
		for _, want := range want {
			if !strings.Contains(content, want) {
				t.Errorf("%s does not hold %q:\n%s", file, want, content)
			}
		}
	}
	for _, want := range []string{
		registry + "/memcached-operator-bundle:v0.2.0\n    sha256:", "git tag v0.2.0",
		"make release VERSION=0.2.0 REGISTRY=" + registry + " OUT=dist\n",
		"since v0.1.0", "- one: a change\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not hold %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "Everything before") {
		t.Errorf("the notes hold what was released before:\n%s", out)
	}
}

func TestTheSameCommitGivesTheSameRelease(t *testing.T) {
	first, second := repository(t), repository(t)
	if diff := cmp.Diff(run(t, good(first)), run(t, good(second))); diff != "" {
		t.Errorf("reports (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(snapshot(t, first), snapshot(t, second)); diff != "" {
		t.Errorf("trees (-first +second):\n%s", diff)
	}
}

func TestWritingTheReleaseIntoItsOwnCommitChangesNothing(t *testing.T) {
	root := repository(t)
	run(t, good(root))
	before := snapshot(t, root)
	t.Setenv("GIT_COMMITTER_DATE", "2026-02-28T12:00:00Z")
	mustGit(t, root, "add", "--all")
	mustGit(t, root, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "release: v0.2.0")
	mustGit(t, root, "tag", "v0.2.0")

	dir := t.TempDir()
	stamped, err := good(root).WriteTo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("the tree (-before +after):\n%s", diff)
	}
	if want := []string{"release: v0.2.0", "one: a change"}; stamped.LastTag != "v0.1.0" || !slices.Equal(stamped.Subjects, want) {
		t.Errorf("commits since %s: %q, want %q since v0.1.0", stamped.LastTag, stamped.Subjects, want)
	}
}

func TestAReleaseThatIsInTheTreeAlreadyIsNoChangeOfIt(t *testing.T) {
	tests := map[string]struct {
		out     string // in the tree
		refused string
	}{
		"the folder that is asked for": {"out", ""},
		"one below another":            {"out/one", ""},
		"another folder":               {"dist", "?? out/"},
		"an odd name":                  {"o*", "?? out/"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := good(repository(t))
			r.Out = filepath.Join(r.Root, tc.out)
			writeFile(t, r.Root, "out/one/release.json", "{}")
			_, err := r.WriteTo(t.Context(), t.TempDir())
			if (err == nil) != (tc.refused == "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("error %v, want %q", err, tc.refused)
			}
		})
	}
}

func TestABundleWithAllImagesByDigestIsForDisconnectedClusters(t *testing.T) {
	root := repository(t)
	r := good(root)
	r.MemcachedImage = "registry.acme.test/memcached:1.6.45@" + other
	run(t, r)
	for _, want := range []string{"image: registry.acme.test/memcached@" + other + "\n", `disconnected: "true"`} {
		if csv := read(t, root, bundledCSV); !strings.Contains(csv, want) {
			t.Errorf("the bundle does not hold %q:\n%s", want, csv)
		}
	}
}

func TestADryRunWritesNothingAndTellsTheSame(t *testing.T) {
	root := repository(t)
	before := snapshot(t, root)
	dry := good(root)
	dry.DryRun = true
	told := run(t, dry)
	if diff := cmp.Diff(before, snapshot(t, root)); diff != "" {
		t.Errorf("the tree (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Replace(told, "Would be written", "Written", 1), run(t, good(root))); diff != "" {
		t.Errorf("reports (-dry +real):\n%s", diff)
	}
}

func TestACandidateIsNotOfferedToAll(t *testing.T) {
	root := repository(t)
	r := good(root)
	r.Version = "0.2.0-rc.1"
	run(t, r)
	catalog := read(t, root, "bundle/catalog/memcached-operator/catalog.yaml")
	_, stable, _ := strings.Cut(catalog, "name: stable\n")
	stable, _, _ = strings.Cut(stable, "---")
	if docs := read(t, root, documented); strings.Contains(docs, "rc.1") {
		t.Errorf("the documentation sends readers to the candidate:\n%s", docs)
	}
	if strings.Contains(stable, "rc.1") || !strings.Contains(catalog, "defaultChannel: stable\n") {
		t.Errorf("the channel stable is\n%s", stable)
	}
}

func TestWhatStandsAgainstAReleaseIsToldBeforeAnythingIsWritten(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, r *Release)
		want   []string
	}{
		"a version that is none":     {func(_ *testing.T, r *Release) { r.Version = "0.2" }, []string{"--version", `"0.2"`, "three numbers"}},
		"a version with a v":         {func(_ *testing.T, r *Release) { r.Version = "v0.2.0" }, []string{"leave it out"}},
		"a version of the past":      {func(_ *testing.T, r *Release) { r.Version = "0.0.9" }, []string{"is not newer than the last release, 0.1.0"}},
		"a version that is released": {func(_ *testing.T, r *Release) { r.Version = "0.1.0" }, []string{"the tag v0.1.0 is at another commit"}},
		"no registry":                {func(_ *testing.T, r *Release) { r.Registry = "" }, []string{"--registry", "registry.example.com/team"}},
		"a registry without a host":  {func(_ *testing.T, r *Release) { r.Registry = "team" }, []string{`--registry "team"`, "names no registry"}},
		"a change in no commit": {
			func(t *testing.T, r *Release) { writeFile(t, r.Root, "one", "changed") }, []string{"in no commit", "M one"},
		},
		"a new file in no commit": {
			func(t *testing.T, r *Release) { writeFile(t, r.Root, "new", "") }, []string{"in no commit", "?? new"},
		},
		"a shallow clone": {
			func(t *testing.T, r *Release) {
				clone := t.TempDir()
				mustGit(t, r.Root, "clone", "--quiet", "--depth", "1", "file://"+r.Root, clone)
				r.Root = clone
			},
			[]string{"this clone is shallow", "git fetch --unshallow --tags"},
		},
		"an API that breaks objects": {
			func(t *testing.T, r *Release) {
				api := read(t, r.Root, crdFile)
				writeFile(t, r.Root, crdFile, strings.ReplaceAll(api, "maximum: 1000", "maximum: 500"))
				commit(t, r.Root, "api: a bound that is tighter")
			},
			[]string{"since 0.1.0.yaml: v1 spec.size: maximum was 1000, is 500"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := good(repository(t))
			tc.change(t, r)
			assertRefused(t, r, tc.want)
		})
	}
}

func TestRoomsThatDoNotAgreeAreNoticed(t *testing.T) {
	root := repository(t)
	f := &facts{
		image: registry + "/memcached-operator:0.2.0@" + built, agent: registry + "/memcached-agent:0.1.0@" + built,
	}
	err := agree(root, f, &made{bundle: "registry.acme.test/bundle@" + built})
	for _, want := range []string{
		"amd64 has", "s390x has", "gitops/settings/settings.yaml has", "Makefile has", managerFile + " has", "catalog.yaml has",
		`amd64 has "` + oldAgent, `settings.yaml has "` + oldAgent, "related image manager has", `related image agent has "` + oldAgent,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func run(t *testing.T, r *Release) string {
	t.Helper()
	var out strings.Builder
	if err := r.Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
