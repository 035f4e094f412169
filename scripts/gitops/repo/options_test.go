package repo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const kustomization = "kind: Kustomization\n"

// small is a tree with an option, a part of that option, and comments that are none.
func small() Files {
	return Files{
		"gitops/apps/overlays/olm/kustomization.yaml": []byte(kustomization +
			"components:\n  # - ../../components/console # the console\n  - ../../policy # - a remark\n"),
		"gitops/apps/overlays/direct/kustomization.yaml":    []byte(kustomization),
		"gitops/apps/components/console/kustomization.yaml": []byte(kustomization),
		"gitops/console/kustomization.yaml": []byte(kustomization +
			"resources:\n  - base\n  # - login.yaml # yours to write\n# components:\n  # - admin\n  # - gone\n"),
		"gitops/console/admin/kustomization.yaml":          []byte(kustomization),
		"gitops/operator/direct/amd64/kustomization.yaml":  []byte(kustomization),
		"gitops/operator/direct/arm64/kustomization.yaml":  []byte(kustomization),
		"gitops/operator/direct/arm64/x/kustomization.yml": []byte(kustomization),
		SettingsFile: []byte("# where\ndata:\n  repoURL: https://git.example.com/a.git # Git\n  revision: main\n" +
			"  argocdNamespace: argocd\n  architecture: amd64\n  operatorImage: images.example.com/o:1\n" +
			"  agentImage: registry.acme.test/a:1\n  memcachedImage: m:1\n  catalogImage: registry.acme.test/c@sha256:1\n"),
	}
}

func TestWhatATreeOffers(t *testing.T) {
	files := small()
	want := []any{
		[]string{"direct", "olm"}, []string{"amd64", "arm64"},
		[]Option{{Name: "admin", Needs: []string{"console"}}, {Name: "console"}},
	}
	if diff := cmp.Diff(want, []any{files.Ways(), files.Architectures(), files.Options()}); diff != "" {
		t.Errorf("ways, architectures, options (-want +got):\n%s", diff)
	}
}

func TestOptionsAreNoCommentsAnyMore(t *testing.T) {
	const overlay, console = "gitops/apps/overlays/olm/kustomization.yaml", "gitops/console/kustomization.yaml"
	tests := map[string]struct {
		options []string
		want    map[string]string // a line by its file
	}{
		"one":                                  {[]string{"console"}, map[string]string{overlay: "\n  - ../../components/console # the console\n"}},
		"a part brings the whole":              {[]string{"admin"}, map[string]string{overlay: "\n  - ../../components/console"}},
		"and the name of the list it is in":    {[]string{"admin"}, map[string]string{console: "\ncomponents:\n  - admin\n  # - gone\n"}},
		"a file that was written":              {[]string{"login.yaml"}, map[string]string{console: "\n  - login.yaml # yours to write\n# components:\n"}},
		"none, where none is chosen":           {nil, map[string]string{overlay: "\n  # - ../../components/console"}},
		"a remark behind an item stays itself": {[]string{"console"}, map[string]string{overlay: "\n  - ../../policy # - a remark\n"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := small().With(Files{"gitops/console/login.yaml": []byte("kind: ConfigMap\n")}).WithOptions(tc.options...)
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range tc.want {
				if !strings.Contains(string(files[file]), want) {
					t.Errorf("%s lacks %q:\n%s", file, want, files[file])
				}
			}
		})
	}
	if _, err := small().WithOptions("gone"); err == nil || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("an unknown option: %v", err)
	}
}

func TestArchitectureIsAnotherInACopy(t *testing.T) {
	files := small()
	changed, err := files.WithArchitecture("arm64")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Replace(string(files[SettingsFile]), "amd64", "arm64", 1), string(changed[SettingsFile])); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if _, err := files.WithArchitecture("riscv64"); err == nil || !strings.Contains(err.Error(), "amd64, arm64") {
		t.Errorf("an unknown architecture: %v", err)
	}
}

func TestSettingsAreComplete(t *testing.T) {
	s, err := small().Settings()
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		RepoURL: "https://git.example.com/a.git", Revision: "main", ArgoCDNamespace: "argocd", Architecture: "amd64",
		OperatorImage: "images.example.com/o:1", AgentImage: "registry.acme.test/a:1", MemcachedImage: "m:1", CatalogImage: "registry.acme.test/c@sha256:1",
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	examples, own := s.Placeholders()
	if diff := cmp.Diff([][]string{{"repoURL", "operatorImage"}, {"agentImage", "catalogImage"}}, [][]string{examples, own}); diff != "" {
		t.Errorf("examples and own values (-want +got):\n%s", diff)
	}
	for name, content := range map[string]string{"data.revision": "data: {repoURL: a}\n", "does not exist": "", "yaml": "a: b: c"} {
		files := Files{SettingsFile: []byte(content)}
		if content == "" {
			files = Files{}
		}
		if _, err := files.Settings(); err == nil || !strings.Contains(err.Error(), SettingsFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	files := Files{"a": []byte("1"), "b": []byte("2")}
	got := files.With(Files{"a": nil, "c": []byte("3")})
	if diff := cmp.Diff(Files{"b": []byte("2"), "c": []byte("3")}, got); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Files{"a": []byte("1"), "b": []byte("2")}, files); diff != "" {
		t.Errorf("original (-want +got):\n%s", diff)
	}
}
