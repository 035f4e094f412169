package docs

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryPageIsInTheSidebar(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(repository, "site/sidebar.json"))
	if err != nil {
		t.Fatal(err)
	}
	var steps map[string][]string
	if err := json.Unmarshal(content, &steps); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, entry := range slices.Concat(slices.Collect(maps.Values(steps))...) {
		page, _, _ := strings.Cut(entry, " ") // the title follows
		if strings.HasSuffix(page, "/") {
			page += "*.md"
		}
		files, err := filepath.Glob(filepath.Join(repository, page))
		if err != nil || len(files) == 0 {
			t.Errorf("site/sidebar.json: %s: there is no such page", page)
		}
		listed = append(listed, files...)
	}
	want := []string{filepath.Join(repository, "gitops/README.md")}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, files...)
	}
	slices.Sort(want)
	slices.Sort(listed)
	if diff := cmp.Diff(want, slices.Compact(listed)); diff != "" {
		t.Errorf("add the page to site/sidebar.json (-pages +sidebar):\n%s", diff)
	}
}
