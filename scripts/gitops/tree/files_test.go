package tree

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const kustomization = "kind: Kustomization\n"

// small returns a tree with an option, an option of that option, and other comments.
func small() Files {
	return Files{
		"gitops/apps/olm/kustomization.yaml":    []byte(kustomization),
		"gitops/apps/direct/kustomization.yaml": []byte(kustomization),
		"gitops/apps/base/kustomization.yaml": []byte(kustomization +
			"resources:\n  # - ../base/console.yaml # the console\n  - policy # - a remark\n"),
		"gitops/apps/base/console.yaml": []byte("kind: Application\n"),
		"gitops/console/kustomization.yaml": []byte(kustomization + "resources:\n  - base\n  # - login.yaml # yours to write\n" +
			"components:\n  # - admin\n  # - gone\npatches:\n  # - path: admin.patch.yaml # with admin\n"),
		"gitops/console/admin/kustomization.yaml": []byte(kustomization),
		"gitops/console/admin.patch.yaml":         []byte("kind: Service\n"),
		"overlays/amd64/kustomization.yaml":       []byte(kustomization),
		"overlays/arm64/kustomization.yaml":       []byte(kustomization),
		"overlays/arm64/x/kustomization.yml":      []byte(kustomization),
		"overlays/openshift/kustomization.yaml":   []byte(kustomization),
		SettingsFile: []byte("# where\ndata:\n  repoURL: https://git.example.com/a.git # Git\n  revision: main\n" +
			"  argocdNamespace: argocd\n  architecture: amd64\n  operatorImage: images.example.com/o:1\n" +
			"  agentImage: registry.acme.test/a:1\n  snapshotImage: registry.acme.test/s:1\n  memcachedImage: m:1\n  catalogImage: registry.acme.test/c@sha256:1\n"),
	}
}

func TestATreeOffersMethodsArchitecturesAndOptions(t *testing.T) {
	files := small()
	want := [][]string{{"direct", "olm"}, {"amd64", "arm64"}, {"admin", "console"}}
	if diff := cmp.Diff(want, [][]string{files.Methods(), files.Architectures(), files.Options()}); diff != "" {
		t.Errorf("methods, architectures, options (-want +got):\n%s", diff)
	}
}

var firstLine = regexp.MustCompile(`^# (You may|No need to) change this: `)

// TestTheTreeIsSmall: a reader can look through all of it, and the first line of each kustomization says whether a user
// may change it.
func TestTheTreeIsSmall(t *testing.T) {
	_, files, err := Load(filepath.Join(root, "gitops"))
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool { // The template is a separate tree.
		return !strings.HasPrefix(name, "gitops/") || strings.HasPrefix(name, "gitops/template/")
	})
	folders := map[string]bool{"gitops": true}
	for name, content := range files {
		for dir := path.Dir(name); dir != "gitops"; dir = path.Dir(dir) {
			folders[dir] = true
		}
		if slices.Contains([]string{"kustomization.yaml", "settings.yaml"}, path.Base(name)) && !firstLine.Match(content) {
			t.Errorf("%s does not begin with %s", name, firstLine)
		}
	}
	if len(folders) > 35 || len(files) > 70 || len(files) < 40 {
		t.Errorf("gitops/ has %d folders and %d files", len(folders), len(files))
	}
}

func TestOptionsAreUncommentedLines(t *testing.T) {
	const overlay, console = "gitops/apps/base/kustomization.yaml", "gitops/console/kustomization.yaml"
	tests := map[string]struct {
		options    []string
		file, want string
	}{
		"one":                                {[]string{"console"}, overlay, "\n  - ../base/console.yaml # the console\n"},
		"an option of the console adds that": {[]string{"admin"}, overlay, "\n  - ../base/console.yaml"},
		"and uncomments its own line":        {[]string{"admin"}, console, "\ncomponents:\n  - admin\n  # - gone\npatches:\n  - path: admin.patch.yaml #"},
		"a file":                             {[]string{"login"}, console, "\n  - login.yaml # yours to write\ncomponents:\n"},
		"none":                               {nil, overlay, "\n  # - ../base/console.yaml"},
		"a remark behind an item stays":      {[]string{"console"}, overlay, "\n  - policy # - a remark\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := small().With(Files{"gitops/console/login.yaml": []byte("kind: ConfigMap\n")}).Variant("amd64", tc.options...)
			if err != nil || !strings.Contains(string(files[tc.file]), tc.want) {
				t.Errorf("%v: %s has no %q:\n%s", err, tc.file, tc.want, files[tc.file])
			}
		})
	}
}

func TestSettings(t *testing.T) {
	s, err := small().Settings()
	if err != nil {
		t.Fatal(err)
	}
	examples, own := s.Examples()
	want := [][]string{{"repoURL", "operatorImage"}, {"agentImage", "snapshotImage", "catalogImage"}}
	if diff := cmp.Diff(want, [][]string{examples, own}); diff != "" {
		t.Errorf("examples and own values (-want +got):\n%s", diff)
	}
	for want, content := range map[string]string{"data.revision is missing": "data: {repoURL: a}\n", "is missing": "", "yaml": "a: b: c"} {
		_, err := Files{SettingsFile: []byte(content)}.Settings()
		if err == nil || !strings.Contains(err.Error(), SettingsFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
	changed, err := small().Variant("arm64")
	if err != nil {
		t.Fatal(err)
	}
	text := string(small()[SettingsFile])
	if diff := cmp.Diff(strings.Replace(text, "amd64", "arm64", 1), string(changed[SettingsFile])); diff != "" {
		t.Errorf("another architecture (-want +got):\n%s", diff)
	}
}

func TestARevisionHasTheFilesOfItsCommit(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "operators/memcached") // main_test.go tests the root of a repository
	large := strings.Repeat("x", maxFile+1)
	for _, content := range []string{"one", "two"} {
		write(t, root, map[string]string{SettingsFile: content, "a.go": "package a", "docs/large": large})
		commit(t, top)
	}
	write(t, root, map[string]string{SettingsFile: "three"})
	for revision, want := range map[string]string{"HEAD": "two", "HEAD~1": "one", "main": "two"} {
		files, err := At(root, revision)
		if diff := cmp.Diff(Files{SettingsFile: []byte(want)}, files); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", revision, err, diff)
		}
	}
	found, files, err := Load(filepath.Join(root, "docs"))
	if diff := cmp.Diff(Files{SettingsFile: []byte("three")}, files); diff != "" || err != nil || found != root {
		t.Errorf("the working tree %s: %v (-want +got):\n%s", found, err, diff)
	}
}

// commit commits what is in a folder.
func commit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range []string{
		"init --quiet --initial-branch=main", "add --all", "-c user.name=test -c user.email=test@example.com commit -q -m one",
	} {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, strings.Fields(args)...)...)
		command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
			return strings.HasPrefix(variable, "GIT_") // set for a Git hook, whose repository git would use
		})
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
