package docs_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// TestTheDocsListEveryExample: each sample that a test applies is in the gallery, with the description from its
// comment.
func TestTheDocsListEveryExample(t *testing.T) {
	const samples = "../../operator/config/samples/"
	files, err := filepath.Glob(samples + "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	table := "| example | for | needs |\n| --- | --- | --- |\n"
	for _, file := range files {
		name := filepath.Base(file)
		if name == "kustomization.yaml" {
			continue
		}
		text := page.Read(t, file)
		purpose := page.Find(t, text, `(?m)^# For (.+)\.$`)
		needs := page.Find(t, text, `(?m)^# Needs: (.+)\.$`)
		table += fmt.Sprintf("| [%s](../operator/config/samples/%s) | %s | %s |\n",
			strings.TrimSuffix(name, ".yaml"), name, page.Cell(purpose), page.Cell(needs))
	}
	page.Tables(t, "../../docs/examples.md", *update, map[string]string{"examples": table})
}
