package facts

import (
	goversion "go/version"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const (
	repository = "../../.."
	digest     = "sha256:0123456789012345678901234567890123456789012345678901234567890123"
)

func TestTheRepositoryAgreesAndEveryPatternFindsACopy(t *testing.T) {
	it := gomega.NewWithT(t)
	found, err := Read(t.Context(), repository)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	if err := found.Err(); err != nil {
		t.Error(err)
	}
	names, err := worktree.Files(t.Context(), repository)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	files := map[string]string{}
	for _, name := range names {
		files[name] = page.Read(t, filepath.Join(repository, name))
	}
	for _, f := range table {
		for _, p := range f.Copies {
			if one := (&fact{Copies: []copies{p}}); len(one.copiesIn(files, Value{Text: "0.0.0"})) == 0 {
				t.Errorf("%s: nothing matches %s", f.Name, p.Find)
			}
		}
	}
	for name, content := range files {
		needs := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(content)
		for _, value := range found.Values {
			isOlder := filepath.Base(name) == "go.mod" && goversion.Compare("go"+value.Text, "go"+needs[1]) < 0
			if strings.HasPrefix(value.Name, "Go ") && isOlder {
				t.Errorf("%s needs Go %s, and %s is %s in %s", name, needs[1], value.Name, value.Text, value.Home)
			}
		}
	}
}

func TestACopyThatDiffersIsFoundAndWritten(t *testing.T) {
	tests := map[string]struct {
		files map[string]string // files in addition to those with the homes
		want  []string          // texts in the reports
		fixed map[string]string
	}{
		"several in one file": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.10.0\n",
				"docs/a.md": "VERSION=0.1.0\nversion: 0.1.x\n--version 0.10.0\n--version 0.2.0 r.io/memcached-operator:0.1.0\n" +
					"memcached-operator-0.1.0.tgz\n  targetRevision: main\n",
			},
			want: []string{"docs/a.md:1: operator is 0.1.0, but it is 0.10.0 in its home Makefile", "docs/a.md:2: operator is 0.1, but it is 0.10 in", "docs/a.md:4:", "docs/a.md:4:", "docs/a.md:5"},
			fixed: map[string]string{"docs/a.md": "VERSION=0.10.0\nversion: 0.10.x\n--version 0.10.0\n--version 0.10.0 r.io/memcached-operator:0.10.0\n" +
				"memcached-operator-0.10.0.tgz\n  targetRevision: main\n"},
		},
		"the version of a release that is to be made": {
			files: map[string]string{"docs/releasing.md": "make build\nmake release VERSION=9.9.9\n"},
		},
		"a candidate is for manifests, and not for readers": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.3.0-rc-2.1\n", "docs/install.md": "VERSION=0.2.0\n",
				"operator/config/a.yaml":        "r.io/memcached-operator:0.3.0-rc-2.1\nr.io/memcached-operator:0.3.0-rc-1.1\n",
				"docs/a.md":                     "r.io/memcached-operator:0.3.0-rc-2.1\n",
				"gitops/operator/olm-v1/a.yaml": "value: 0.3.x",
			},
			want: []string{
				"docs/a.md:1: operator is 0.3.0-rc-2.1, but it is 0.2.0 in its home docs/install.md",
				"gitops/operator/olm-v1/a.yaml:1: operator is 0.3, but it is 0.2 in its home docs/install.md",
				"operator/config/a.yaml:2: operator's image is 0.3.0-rc-1.1, but it is 0.3.0-rc-2.1 in its home Makefile",
			},
			fixed: map[string]string{"operator/config/a.yaml": strings.Repeat("r.io/memcached-operator:0.3.0-rc-2.1\n", 2)},
		},
		"a digest belongs to its tag": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.3.0\n", "operator/config/a.yaml": "r.io/memcached-operator:0.2.0@" + digest +
					"\nr.io/memcached-agent:0.0.1@" + digest + "\nimage: docker.io/library/memcached:1.5.0@" + digest + "\n",
			},
		},
		"a new tag in a kustomization is of the image above it": {
			files: map[string]string{
				"Makefile": "VERSION ?= 0.3.0\n", "operator/cmd/agent/VERSION": "0.2.0\n", "operator/internal/app/options.go": options,
				"docs/a.md": "    newName: r.io/memcached-operator\n    newTag: 0.1.0\n" +
					"    newName: r.io/memcached-agent\n    newTag: 0.1.0\n",
			},
			want: []string{"docs/a.md:2: operator is 0.1.0, but it is 0.3.0 in", "docs/a.md:4: agent is 0.1.0, but it is 0.2.0 in"},
			fixed: map[string]string{"docs/a.md": "    newName: r.io/memcached-operator\n    newTag: 0.3.0\n" +
				"    newName: r.io/memcached-agent\n    newTag: 0.2.0\n"},
		},
		"releases of other projects": {
			files: map[string]string{"docs/a.md": "Kubernetes 1.2.3, OLM v0.1.2, OLM v1.0.0\n"},
			want:  []string{"Kubernetes is 1.2.3", "OLM is 0.1.2", "OLM v1 is 1.0.0"},
		},
		"names that end like another, as that of a fork may": {
			files: map[string]string{
				"docs/a.md": "r.io/zz-memcached:0.2.0 zz-memcached-agent:0.2.0 zz.golang:1.2.3\n" +
					"zz-memcached-operator:0.2.0 operators/zz-memcached-operator/0.2.0 zz-memcached-operator-0.2.0.tgz\n" +
					"zz-argocd-operator.v0.2.0 https://r.io/zz/operator-controller/releases/download/v0.2.0\n",
				"operator/config/a.yaml": "r.io/zz-scorecard-test:v0.2.0",
			},
		},
		"an image and a digest in two files, and in no table": {
			files: map[string]string{"a.yaml": "image: quay.io/a/tool:v1.2\n", "b/b.go": `"quay.io/a/tool:v1.2"`, "c": digest, "d": digest},
			want:  []string{"quay.io/a/tool:v1.2 is in a.yaml, b/b.go: make one of them its home", digest + " is in c, d"},
		},
		"an image twice in one file, an example, and what is generated": {
			files: map[string]string{
				"a.yaml": "quay.io/a/tool:v1 quay.io/a/tool:v1\n", "b.go": "registry.example.com/a:1", "c.go": "registry.example.com/a:1",
				"bundle/a.yaml": "quay.io/a/tool:v1", "x/testdata/a.yaml": "quay.io/a/tool:v1", settings: "quay.io/a/tool:v1",
			},
		},
		"an action at two commits": {
			files: map[string]string{
				".github/workflows/a.yaml": "steps:\n  - uses: actions/checkout@1111 # v1\n  - uses: a/b/c@1\n",
				".github/workflows/b.yaml": "steps:\n  - name: x\n    uses: actions/checkout@2222 # v2\n  - uses: a/b/c@1\n",
			},
			want: []string{"the workflows pin actions/checkout to different commits (1111 and 2222)"},
		},
		// A value that is not a version could be written into the copies, but would then never be found there again.
		"a home with a word":          {files: map[string]string{"Makefile": "VERSION ?= abc\n"}, want: []string{`Makefile: operator is "abc", which is not a semantic`}},
		"a home with build metadata":  {files: map[string]string{"Makefile": "VERSION ?= 1.2.3+a\n"}, want: []string{`is "1.2.3+a", which has build metadata`}},
		"a home without its line":     {files: map[string]string{"Makefile": "all:\n"}, want: []string{"operator: Makefile: nothing matches"}},
		"a home with a part of a tag": {files: map[string]string{"Dockerfile": "golang:@" + digest}, want: []string{`Go of the images is "", which`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := homes(t, tc.files)
			found, lines := look(t, root)
			if !slices.EqualFunc(lines, tc.want, strings.Contains) {
				t.Fatalf("found %q\nwant %q", lines, tc.want)
			}
			if found == nil {
				return
			}
			if _, err := found.Write(); err != nil {
				t.Fatal(err)
			}
			for name, want := range tc.fixed {
				if diff := cmp.Diff(want, tree.Read(t, root)[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if again, _ := look(t, root); len(again.Stale) > 0 {
				t.Errorf("still differing: %v", again.Stale)
			}
		})
	}
}

const options = "\tDefaultMemcachedImage = \"docker.io/library/memcached:1.6.45\"\n"

// homes writes the files with the homes of all versions, and these other files. No version in them is a candidate.
func homes(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	all := map[string]string{"docs/install.md": ""}
	for _, f := range table {
		all[f.Home.File] = page.Read(t, filepath.Join(repository, f.Home.File))
	}
	all["Makefile"] = "VERSION ?= 0.1.0\n"
	maps.Copy(all, files)
	tree.Write(t, root, all)
	return root
}

// look reads all files of a tree. It returns what Read found, and the lines of the error that it has.
func look(t *testing.T, root string) (found *Found, lines []string) {
	t.Helper()
	found, err := read(root, slices.Collect(maps.Keys(tree.Read(t, root))))
	if err == nil {
		err = found.Err()
	}
	if err != nil {
		lines = strings.Split(err.Error(), "\n")
	}
	return found, lines
}
