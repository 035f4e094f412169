package docs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
)

func TestEveryLinkBetweenPagesLeadsSomewhere(t *testing.T) {
	broken, err := BrokenLinks("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range broken {
		t.Error(link)
	}
}

// TestACommandThatCleansUpKeepsTheCaches: by default, operator-sdk cleanup sets --delete-all. Then it deletes the CRD,
// and with it every cache, even with --delete-crds=false.
func TestACommandThatCleansUpKeepsTheCaches(t *testing.T) {
	found := 0
	for _, page := range allPages(t) {
		for i, line := range page.lines {
			if line.code == "" || !strings.Contains(line.text, "operator-sdk cleanup") {
				continue
			}
			found++
			if !strings.Contains(line.text, "--delete-all=false") {
				t.Errorf("%s:%d: %s: add --delete-all=false", page.path, i+1, line.text)
			}
		}
	}
	if found == 0 {
		t.Error("no page has the command: delete this test")
	}
}

func TestBrokenLinks(t *testing.T) {
	tests := map[string]struct {
		page string
		want []string
	}{
		"a page, a folder, a heading there and one here": {
			page: "# One `two`\n[a](other.md) ![b](sub) [c](other.md#its-heading) [d](#one-two)\n",
		},
		"the second heading of the same name": {page: "# A\n# A\n[a](#a-1)\n"},
		"a heading with a link and signs":     {page: "## [What?](other.md) How, and why\n[a](#what-how-and-why)\n"},
		"what is elsewhere or only code": {
			page: "[a](https://example.com/x#y) [b](mailto:a@example.com) `[c](d)`\n```\n[e](f)\n# G\n```\n",
		},
		"a file that is not there": {
			page: "x\n[a](gone.md)\n", want: []string{"page.md:2: gone.md: there is no such file"},
		},
		"a heading that is not there": {
			page: "[a](other.md#gone)\n", want: []string{"page.md:1: other.md#gone: there is no such heading"},
		},
		"a heading that is only code": {
			page: "```sh\n# comment\n```\n[a](#comment)\n", want: []string{"page.md:4: #comment: there is no such heading"},
		},
		"a definition below the text": {
			page: "[a][x]\n\n[x]: gone.md\n", want: []string{"page.md:3: gone.md: there is no such file"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := written(t, map[string]string{"page.md": tc.page, "other.md": "# Its heading\n", "sub/x": ""})
			got, err := BrokenLinks(root)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("broken links (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManifests(t *testing.T) {
	root := written(t, map[string]string{
		"docs/a.md": "text\n```yaml\napiVersion: v1\nkind: Secret\n---\nkind: Service\napiVersion: v1\n```\n" +
			"- item\n  ```yml\n  spec:\n    size: 1\n  ```\n```sh\nkind: no\n```\n```yaml\nvalues: 1\n```\n",
		"operator/config/samples/b.yaml": "apiVersion: v1\nkind: Pod\n",
		"testdata/c.md":                  "```yaml\napiVersion: v1\nkind: Node\n```\n",
	})
	manifests, err := Manifests(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, manifest := range manifests {
		got = append(got, manifest.Where+" "+manifest.Object.GetKind())
	}
	want := []string{"docs/a.md:3 Secret", "docs/a.md:6 Service", "docs/a.md:11 Memcached", "operator/config/samples/b.yaml:1 Pod"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifests (-want +got):\n%s", diff)
	}
}

func TestYAMLThatIsNoneIsReportedWithItsLine(t *testing.T) {
	root := written(t, map[string]string{"a.md": "\n```yaml\na: 1\na: 2\n```\n"})
	_, err := Manifests(root)
	if err == nil || err.Error()[:7] != "a.md:3:" {
		t.Errorf("error: %v", err)
	}
}

// written makes a repository with these files, and returns its folder.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	tree.Write(t, root, files)
	return root
}

// allPages are the pages of the repository.
func allPages(t *testing.T) []page {
	t.Helper()
	pages, err := readPages(repository)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
