package operatorhub_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/operatorhub"
)

const root = "../../.."

func TestTheFolderHoldsTheBundleAndCI(t *testing.T) {
	out := t.TempDir()
	want := map[string]string{}
	for name, content := range readBundle(t) {
		if !strings.HasSuffix(name, ".Dockerfile") {
			want["operators/memcached-operator/"+version(t)+"/"+name] = content
		}
	}
	ci, err := os.ReadFile(filepath.Join(root, operatorhub.CI))
	if err != nil {
		t.Fatal(err)
	}
	want["operators/memcached-operator/ci.yaml"] = string(ci)
	for range 2 { // Once more changes nothing.
		written, err := operatorhub.Write(root, out)
		if err != nil {
			t.Fatal(err)
		}
		if got := filepath.Join(out, "operators/memcached-operator", version(t)); written.Dir != got {
			t.Errorf("%s is written, want %s", written.Dir, got)
		}
		got, err := bundle.Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, map[string]string(got)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

func TestACIFileThatIsThereIsKept(t *testing.T) {
	const mine = "updateGraph: replaces-mode\nreviewers: [somebody-of-ours]\n"
	out := t.TempDir()
	file := filepath.Join(out, "operators/memcached-operator/ci.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	written, err := operatorhub.Write(root, out)
	if err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(file); string(content) != mine {
		t.Errorf("it is now:\n%s", content)
	}
	notes := strings.Join(written.Notes, "\n")
	if !strings.Contains(notes, file+" is kept") || strings.Contains(notes, "reviewer example-inc") {
		t.Errorf("notes %q, want one that it is kept, and none about a reviewer", notes)
	}
}

// TestACIFileThatIsRefusedIsNotSubmitted: what is kept goes into the pull request, so it is what the rules are for.
func TestACIFileThatIsRefusedIsNotSubmitted(t *testing.T) {
	out := t.TempDir()
	file := filepath.Join(out, "operators/memcached-operator/ci.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("updateGraph: semver-mode\nreviewers: [somebody-of-ours]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := operatorhub.Write(root, out); err == nil || !strings.Contains(err.Error(), "semver-mode") {
		t.Errorf("error %v, want one about the update graph", err)
	}
}

func TestAnotherBundleOfAVersionThatIsThereIsRefused(t *testing.T) {
	out := t.TempDir()
	if _, err := operatorhub.Write(root, out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "operators/memcached-operator", version(t), "metadata/annotations.yaml")
	if err := os.WriteFile(file, []byte("annotations: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := operatorhub.Write(root, out)
	if err == nil || !strings.Contains(err.Error(), "release a new version") {
		t.Errorf("error %v, want one that names the fix", err)
	}
	if content, _ := os.ReadFile(file); string(content) != "annotations: {}\n" {
		t.Errorf("%s was changed", file)
	}
}

// TestABundleThatTheRepositoriesRefuseIsNotWritten has a folder beside the version that nothing replaces.
func TestABundleThatTheRepositoriesRefuseIsNotWritten(t *testing.T) {
	out := t.TempDir()
	operator := filepath.Join(out, "operators/memcached-operator")
	if err := os.MkdirAll(filepath.Join(operator, "0.0.1-never"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := operatorhub.Write(root, out)
	if err == nil || !strings.Contains(err.Error(), "spec.replaces") {
		t.Errorf("error %v, want one about spec.replaces", err)
	}
	if _, err := os.Stat(filepath.Join(operator, "ci.yaml")); err == nil {
		t.Error("ci.yaml is written all the same")
	}
}

func TestWhatOnlyTheUserCanDecideIsNoted(t *testing.T) {
	const cache = "quay.io/caches/memcached:1"
	at := "@sha256:" + strings.Repeat("a", 64)
	ours := []string{"example-inc", "somebody-of-ours"}
	release := []string{
		`email: .*`, "email: team@caches.dev", `(/disconnected): .*`, `$1: "true"`, `(?m)^  replaces: .*\n`, "",
		`(image|containerImage|value): \S+/(memcached-operator|memcached-agent|memcached)[:@]\S+`,
		"$1: quay.io/caches/$2:1" + at,
	}
	tests := map[string]struct {
		bundle []string // patterns, each with what replaces it
		ci     []string
		want   []string
	}{
		"nothing of an own release": {release, ours, nil},
		"the maintainer's address": {
			slices.Concat(release, []string{"team@caches.dev", "maintainers@example.com"}), ours,
			[]string{"maintainers@example.com is an example"},
		},
		"a reviewer that is an example": {release, nil, []string{"the reviewer example-inc"}},
		"memcached without a digest": {
			slices.Concat(release, []string{cache + at, cache, `(/disconnected): .*`, `$1: "false"`}), ours,
			[]string{cache + " is not named by digest: run make release-prepare with MEMCACHED_IMAGE=" + cache + "@sha256:..."},
		},
		"images of the example's registry": {
			slices.Concat(release, []string{"quay.io/caches/", "images.example.com/"}), ours,
			[]string{
				"nobody can pull images.example.com/memcached-operator:1" + at + ": run make release-prepare",
				"nobody can pull images.example.com/memcached:1" + at + ": run make release-prepare",
				"nobody can pull images.example.com/memcached-agent:1" + at + ": run make release-prepare",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			written, err := operatorhub.Write(edited(t, tc.bundle, tc.ci), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			begins := cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) })
			if diff := cmp.Diff(tc.want, written.Notes, begins); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// edited is a copy of what goes into a submission, with changes.
func edited(t *testing.T, inBundle, inCI []string) string {
	t.Helper()
	copied := t.TempDir()
	files := readBundle(t)
	for name, content := range files {
		files[name] = replace(content, inBundle)
	}
	if err := files.Write(filepath.Join(copied, bundle.Dir)); err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile(filepath.Join(root, operatorhub.CI))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(copied, operatorhub.CI)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(replace(string(ci), inCI)), 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}

func replace(text string, pairs []string) string {
	for pair := range slices.Chunk(pairs, 2) {
		text = regexp.MustCompile(pair[0]).ReplaceAllString(text, pair[1])
	}
	return text
}

func readBundle(t *testing.T) bundle.Files {
	t.Helper()
	files, err := bundle.Read(filepath.Join(root, bundle.Dir))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func version(t *testing.T) string {
	t.Helper()
	var csv struct{ Spec struct{ Version string } }
	text := readBundle(t)["manifests/memcached-operator.clusterserviceversion.yaml"]
	if err := yaml.Unmarshal([]byte(text), &csv); err != nil {
		t.Fatal(err)
	}
	return csv.Spec.Version
}
