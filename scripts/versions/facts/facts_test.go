package facts

import (
	goversion "go/version"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const repository = "../../.."

func TestEveryCopyOfAVersionAgreesWithItsHome(t *testing.T) {
	found, err := Read(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Err(); err != nil {
		t.Error(err)
	}
}

func TestEveryPatternFindsACopy(t *testing.T) {
	out, err := worktree.Git(t.Context(), repository, "ls-files")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range table {
		for _, p := range f.copies {
			count := 0
			one := fact{copies: []place{p}}
			for name := range strings.Lines(out) {
				name = strings.TrimSpace(name)
				content, err := os.ReadFile(filepath.Join(repository, name))
				if err != nil {
					continue // Deleted, and not committed yet.
				}
				count += len(one.copiesIn(name, string(content), Value{Text: "0.0.0"}))
			}
			if count == 0 {
				t.Errorf("%s: nothing matches %s", f.name, p.find)
			}
		}
	}
}

func TestNoModuleNeedsANewerGoThanThePagesSay(t *testing.T) {
	out, err := worktree.Git(t.Context(), repository, "ls-files", "*go.mod")
	if err != nil {
		t.Fatal(err)
	}
	root := homes(t)
	for name := range strings.Lines(out) {
		content, err := os.ReadFile(filepath.Join(repository, strings.TrimSpace(name)))
		if err != nil {
			t.Fatal(err)
		}
		needs := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(content)
		for _, value := range look(t, root).Values {
			if strings.HasPrefix(value.Name, "Go ") && goversion.Compare("go"+value.Text, "go"+string(needs[1])) < 0 {
				t.Errorf("%s needs Go %s, and %s is %s in %s", strings.TrimSpace(name), needs[1], value.Name, value.Text, value.Home)
			}
		}
	}
}

const digest = "sha256:0123456789012345678901234567890123456789012345678901234567890123"

func TestACopyThatDiffersIsFoundAndWritten(t *testing.T) {
	tests := map[string]struct {
		files map[string]string // beside the homes; a page's own text stays
		want  []string          // of what is found
		fixed map[string]string
	}{
		"the operator's image in a page": {
			files: map[string]string{"Makefile": "VERSION ?= 0.3.0\n", "docs/a.md": "see r.io/memcached-operator:0.1.0.\n"},
			want:  []string{"docs/a.md:1: operator is 0.1.0, and 0.3.0 in Makefile"},
			fixed: map[string]string{"docs/a.md": "see r.io/memcached-operator:0.3.0.\n"},
		},
		"several in one file": {
			files: map[string]string{"Makefile": "VERSION ?= 0.10.0\n", "docs/a.md": "VERSION=0.1.0\nversion: 0.1.x\n--version 0.10.0\n--version 0.2.0\n"},
			want:  []string{"docs/a.md:1:", "docs/a.md:2: operator is 0.1, and 0.10 in", "docs/a.md:4:"},
			fixed: map[string]string{"docs/a.md": "VERSION=0.10.0\nversion: 0.10.x\n--version 0.10.0\n--version 0.10.0\n"},
		},
		"the version of a release that is to be made": {
			files: map[string]string{"docs/releasing.md": "make build\nmake release VERSION=9.9.9\n"},
		},
		"the Helm chart": {
			files: map[string]string{"Makefile": "VERSION ?= 0.3.0\n", "docs/helm.md": "memcached-operator-0.1.0.tgz\n" +
				"    targetRevision: 0.1.0\n    tag: 0.1.0\n    targetRevision: main\n"},
			want: []string{"docs/helm.md:1: operator is 0.1.0", "docs/helm.md:2:", "docs/helm.md:3:"},
			fixed: map[string]string{"docs/helm.md": "memcached-operator-0.3.0.tgz\n" +
				"    targetRevision: 0.3.0\n    tag: 0.3.0\n    targetRevision: main\n"},
		},
		"a candidate is not for readers": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.3.0-rc.1\n", "docs/install.md": "VERSION=0.2.0\n", "docs/a.md": "VERSION=0.2.0 or VERSION=0.1.0\n",
				"operator/config/a.yaml": "image: r.io/memcached-operator:0.3.0-rc.1\n",
			},
			want:  []string{"docs/a.md:1: operator is 0.1.0, and 0.2.0 in docs/install.md"},
			fixed: map[string]string{"docs/a.md": "VERSION=0.2.0 or VERSION=0.2.0\n"},
		},
		"manifests name the candidate": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.3.0-rc-2.1\n", "docs/install.md": "VERSION=0.2.0\n",
				"operator/config/a.yaml":        "r.io/memcached-operator:0.3.0-rc-2.1\nr.io/memcached-operator:0.3.0-rc-1.1\n",
				"docs/a.md":                     "r.io/memcached-operator:0.3.0-rc-2.1\n",
				"gitops/operator/olm-v1/a.yaml": "value: 0.3.x",
			},
			want: []string{
				"docs/a.md:1: operator is 0.3.0-rc-2.1, and 0.2.0 in docs/install.md",
				"gitops/operator/olm-v1/a.yaml:1: operator is 0.3, and 0.2 in docs/install.md",
				"operator/config/a.yaml:2: operator's image is 0.3.0-rc-1.1, and 0.3.0-rc-2.1 in Makefile",
			},
			fixed: map[string]string{"operator/config/a.yaml": strings.Repeat("r.io/memcached-operator:0.3.0-rc-2.1\n", 2)},
		},
		"a digest belongs to its tag": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.3.0\n", "operator/cmd/agent/VERSION": "0.9.0\n",
				"operator/internal/app/options.go": "\tDefaultMemcachedImage = \"docker.io/library/memcached:1.6.45\"\n",
				"operator/config/a.yaml": "r.io/memcached-operator:0.2.0@" + digest + "\nr.io/memcached-agent:0.1.0@" + digest +
					"\nr.io/memcached-operator:0.3.0-rc.1@" + digest + "\n",
			},
		},
		"a new tag in a kustomization is of the image above it": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.3.0\n", "operator/cmd/agent/VERSION": "0.2.0\n",
				"operator/internal/app/options.go": "\tDefaultMemcachedImage = \"docker.io/library/memcached:1.6.45\"\n",
				"docs/a.md": "    newName: r.io/memcached-operator\n    newTag: 0.1.0\n" +
					"    newName: r.io/memcached-agent\n    newTag: 0.1.0\n",
			},
			want: []string{"docs/a.md:2: operator is 0.1.0, and 0.3.0 in", "docs/a.md:4: agent is 0.1.0, and 0.2.0 in"},
			fixed: map[string]string{"docs/a.md": "    newName: r.io/memcached-operator\n    newTag: 0.3.0\n" +
				"    newName: r.io/memcached-agent\n    newTag: 0.2.0\n"},
		},
		"the agent's default in the code": {
			files: map[string]string{"operator/cmd/agent/VERSION": "0.9.0\n", "overlays/a.yaml": "memcached-agent:0.1.0"},
			want:  []string{"options.go:", "overlays/a.yaml:1: agent is 0.1.0, and 0.9.0 in operator/cmd/agent/VERSION"},
			fixed: map[string]string{"overlays/a.yaml": "memcached-agent:0.9.0"},
		},
		"a release of Argo CD, of Kubernetes and of OLM": {
			files: map[string]string{"docs/a.md": "Argo CD 3.1.2.\nKubernetes 1.2.3, OLM v0.1.2, OLM v1.0.0\n"},
			want:  []string{"docs/a.md:1: Argo CD is 3.1.2, and", "Kubernetes is 1.2.3", "OLM is 0.1.2", "OLM v1 is 1.0.0"},
		},
		"names that end like another, as that of a fork may": {
			files: map[string]string{
				"docs/a.md": "r.io/zz-memcached:0.2.0 zz-memcached-agent:0.2.0 zz.golang:1.2.3\n" +
					"zz-memcached-operator:0.2.0 operators/zz-memcached-operator/0.2.0 zz-memcached-operator-0.2.0.tgz\n" +
					"zz-argocd-operator.v0.2.0 https://r.io/zz/operator-controller/releases/download/v0.2.0\n",
				"operator/config/a.yaml": "r.io/zz-scorecard-test:v0.2.0",
			},
		},
		"memcached's image by digest is a release's own": {
			files: map[string]string{"operator/config/a.yaml": "image: docker.io/library/memcached:1.5.0@" + digest + "\n"},
		},
		"an image in two files, and in no table": {
			files: map[string]string{"a.yaml": "image: quay.io/a/tool:v1.2\n", "b/b.go": `"quay.io/a/tool:v1.2"`},
			want:  []string{"quay.io/a/tool:v1.2 is in a.yaml, b/b.go: make one of them its home"},
		},
		"an action at two commits": {
			files: map[string]string{
				".github/workflows/a.yaml": "steps:\n  - uses: actions/checkout@1111 # v1\n  - uses: a/b/c@1\n",
				".github/workflows/b.yaml": "steps:\n  - name: x\n    uses: actions/checkout@2222 # v2\n  - uses: a/b/c@1\n",
			},
			want: []string{"the workflows use actions/checkout at 1111 and 2222"},
		},
		"a digest in two files": {
			files: map[string]string{"Dockerfile.other": "FROM scratch@" + digest + "\n", "docs/a.md": "`" + digest + "`"},
			want:  []string{digest + " is in Dockerfile.other, docs/a.md"},
		},
		"an image twice in one file, an example, and what is generated": {
			files: map[string]string{
				"a.yaml": "quay.io/a/tool:v1 quay.io/a/tool:v1\n", "b.go": "registry.example.com/a:1", "c.go": "registry.example.com/a:1",
				"bundle/a.yaml": "quay.io/a/tool:v1", "x/testdata/a.yaml": "quay.io/a/tool:v1",
				settings: "quay.io/a/tool:v1",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := homes(t)
			for name, content := range tc.files {
				if err := worktree.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			found := look(t, root)
			assertFound(t, found, tc.want)
			if _, err := found.Write(); err != nil {
				t.Fatal(err)
			}
			for name, want := range tc.fixed {
				got, err := os.ReadFile(filepath.Join(root, name))
				if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
					t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
				}
			}
			if again := look(t, root); len(again.Stale) > 0 {
				t.Errorf("still differing: %v", again.Stale)
			}
		})
	}
}

// assertFound checks each line of what was found.
func assertFound(t *testing.T, found *Found, want []string) {
	t.Helper()
	var lines []string
	if err := found.Err(); err != nil {
		lines = strings.Split(err.Error(), "\n")
	}
	if len(lines) != len(want) {
		t.Fatalf("found %d: %q, want %d", len(lines), lines, len(want))
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("found %q, want %q in it", lines[i], want[i])
		}
	}
}

// homes is a tree of the homes alone.
func homes(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := []string{"docs/install.md"}
	for _, f := range table {
		files = append(files, f.home)
	}
	if err := worktree.CopyFiles(repository, root, files); err != nil {
		t.Fatal(err)
	}
	// No candidate, as after most releases: while there is one, the page is the home.
	for name, content := range map[string]string{"Makefile": "VERSION ?= 0.1.0\n", "docs/install.md": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// look reads all files of a tree.
func look(t *testing.T, root string) *Found {
	t.Helper()
	found, err := read(root, filesIn(t, root))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func filesIn(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
