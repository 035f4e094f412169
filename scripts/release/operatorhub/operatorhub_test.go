package operatorhub_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/operatorhub"
)

const root, operator = "../../..", "operators/memcached-operator/"

func TestTheDirectoryHoldsTheBundleAndCI(t *testing.T) {
	out := t.TempDir()
	files, version := committed(t)
	want := map[string]string{operator + "ci.yaml": source(t)}
	for name, content := range files {
		if !strings.HasSuffix(name, ".Dockerfile") {
			want[operator+version+"/"+name] = content
		}
	}
	const mine = "updateGraph: replaces-mode\nreviewers: [some-user]\n"
	for n, ci := range []string{source(t), source(t), mine} { // The second call changes nothing. Users may edit ci.yaml.
		if want[operator+"ci.yaml"] = ci; ci == mine {
			tree.Write(t, out, map[string]string{operator + "ci.yaml": ci})
		}
		dir, notes, err := operatorhub.Write(root, out)
		if want := filepath.Join(out, operator, version); dir != want || err != nil {
			t.Errorf("%d: %s is written, want %s, error %v", n, dir, want, err)
		}
		if diff := cmp.Diff(want, tree.Read(t, out)); diff != "" {
			t.Errorf("%d: files (-want +got):\n%s", n, diff)
		}
		if isKept := strings.Contains(strings.Join(notes, "\n"), "ci.yaml was not changed"); isKept != (ci == mine) {
			t.Errorf("%d: notes %q", n, notes)
		}
	}
}

func TestNothingIsWrittenThatTheRepositoriesRefuse(t *testing.T) {
	const ci = operator + "ci.yaml"
	_, version := committed(t)
	tests := map[string]struct{ file, content, want string }{
		"a ci.yaml that is no YAML":                {ci, "reviewers: [", "ci.yaml: "},
		"an update graph that bundles do not have": {ci, "updateGraph: semver-mode\nreviewers: [a]", `should be one of [replaces-mode], not "semver-mode"`},
		"no reviewer":                        {ci, "updateGraph: replaces-mode\nreviewers: []", "reviewers should have at least 1 items"},
		"a reviewer who is no GitHub user":   {ci, "updateGraph: replaces-mode\nreviewers: [a@example.com]", "reviewers[0] should match"},
		"a reviewer twice":                   {ci, "updateGraph: replaces-mode\nreviewers: [a, a]", "reviewers shouldn't contain duplicates"},
		"a catalog that is not written here": {ci, "updateGraph: replaces-mode\nreviewers: [a]\nfbc: {enabled: true}", "must not validate the schema (not)"},
		"another bundle of the version":      {operator + version + "/metadata/annotations.yaml", "annotations: {}\n", "release a new version"},
		"versions of which none is replaced": {operator + "0.0.1-never/metadata/annotations.yaml", "", "spec.replaces is"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			before := map[string]string{tc.file: tc.content}
			tree.Write(t, out, before)
			if _, _, err := operatorhub.Write(root, out); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if diff := cmp.Diff(before, tree.Read(t, out)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

func TestWhatOnlyTheUserCanDecideIsNoted(t *testing.T) {
	const cache = "quay.io/caches/memcached:1"
	at := "@sha256:" + strings.Repeat("a", 64)
	reviewers := []string{"example-inc", "some-user"}
	release := []string{
		`email: .*`, "email: team@caches.dev", `(/disconnected): .*`, `$1: "true"`, `(?m)^  replaces: .*\n`, "",
		`(image|containerImage|value): \S+/(memcached-operator|memcached-agent|memcached-snapshot|memcached)[:@]\S+`,
		"$1: quay.io/caches/$2:1" + at,
	}
	tests := map[string]struct {
		bundle []string // pairs of a pattern and its replacement
		ci     []string
		want   []string
	}{
		"nothing of an own release": {release, reviewers, nil},
		"the maintainer's address": {
			slices.Concat(release, []string{"team@caches.dev", "maintainers@example.com"}), reviewers,
			[]string{"maintainers@example.com is an example"},
		},
		"a reviewer that is an example": {release, nil, []string{"the reviewer example-inc"}},
		"memcached without a digest": {
			slices.Concat(release, []string{cache + at, cache, `(/disconnected): .*`, `$1: "false"`}), reviewers,
			[]string{cache + " is not named by digest: run make release-prepare with MEMCACHED_IMAGE=" + cache + "@sha256:..."},
		},
		"images of the example's registry": {
			slices.Concat(release, []string{"quay.io/caches/", "images.example.com/"}), reviewers,
			[]string{
				"nobody can pull images.example.com/memcached-operator:1" + at + ": run make release-prepare",
				"nobody can pull images.example.com/memcached:1" + at + ": run make release-prepare",
				"nobody can pull images.example.com/memcached-agent:1" + at + ": run make release-prepare",
				"nobody can pull images.example.com/memcached-snapshot:1" + at + ": run make release-prepare",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, notes, err := operatorhub.Write(edited(t, tc.bundle, tc.ci), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			begins := cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) })
			if diff := cmp.Diff(tc.want, notes, begins); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// edited returns a folder with the files from which a submission is made, after changes to the bundle and to ci.yaml.
func edited(t *testing.T, inBundle, inCI []string) string {
	t.Helper()
	copied := t.TempDir()
	files, _ := committed(t)
	for name, content := range files {
		files[name] = replace(content, inBundle)
	}
	tree.Write(t, filepath.Join(copied, bundle.Dir), files)
	tree.Write(t, copied, map[string]string{operatorhub.CI: replace(source(t), inCI)})
	return copied
}

func replace(text string, pairs []string) string {
	for pair := range slices.Chunk(pairs, 2) {
		text = regexp.MustCompile(pair[0]).ReplaceAllString(text, pair[1])
	}
	return text
}

// source returns the ci.yaml of this repository.
func source(t *testing.T) string {
	t.Helper()
	return tree.Read(t, filepath.Join(root, filepath.Dir(operatorhub.CI)))["ci.yaml"]
}

// committed returns the bundle of this repository, and its version.
func committed(t *testing.T) (bundle.Files, string) {
	t.Helper()
	files, err := bundle.Read(filepath.Join(root, bundle.Dir))
	if err != nil {
		t.Fatal(err)
	}
	v, err := files.Version()
	if err != nil {
		t.Fatal(err)
	}
	return files, v.Version
}
