package render

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/test/crd"
)

const fieldPage = repository + "/docs/memcached/README.md"

func TestTheDocsListEveryField(t *testing.T) {
	page.Tables(t, fieldPage, *update, map[string]string{"fields": fieldTable(t), "rules": ruleTable(t)})
}

// TestEveryFieldHasASentenceInTheDocs does not count the generated tables.
func TestEveryFieldHasASentenceInTheDocs(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(filepath.Dir(fieldPage), "[a-z]*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(content)
	}
	fields, err := crd.SettableFields(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		name := field.Path[strings.LastIndex(field.Path, ".")+1:]
		if !strings.Contains(text.String(), "`"+name) && !strings.Contains(text.String(), name+":") {
			t.Errorf("%s has no sentence: add one to a page of docs/memcached", field.Path)
		}
	}
}

// TestACommentSaysOfEachFieldWhetherAChangeReplacesThePods: users, and the model of test/faults, read in the comment
// whether the Pods are replaced.
func TestACommentSaysOfEachFieldWhetherAChangeReplacesThePods(t *testing.T) {
	fields, err := crd.Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, effect := range effects(t) {
		switch says := crd.ReplacesNoPod(fields, effect.field.Path); {
		case says && effect.replacesPods:
			t.Errorf("the comment of %s says that a change replaces no Pod, and it does", effect.field.Path)
		case !says && !effect.replacesPods:
			t.Errorf("the comment of %s does not say: A change replaces no Pod.", effect.field.Path)
		}
	}
}

// fieldTable links each field to its heading, if a page in the same folder as the page of the fields has such a
// heading.
func fieldTable(t *testing.T) string {
	t.Helper()
	var table bytes.Buffer
	table.WriteString("| field | meaning | default | bounds | replaces the Pods |\n| --- | --- | --- | --- | --- |\n")
	pages := headings(t)
	for _, effect := range effects(t) {
		path := strings.TrimPrefix(effect.field.Path, "spec.")
		name := "`" + path + "`"
		top, _, _ := strings.Cut(path, ".")
		for _, heading := range []string{path, top} {
			if page := pages[strings.ToLower(heading)]; page != "" {
				name = fmt.Sprintf("[%s](%s#%s)", name, page, strings.ToLower(heading))
				break
			}
		}
		replaces := "no"
		switch {
		case strings.Contains(effect.field.Schema.Description, "pending until the next rollout"):
			replaces = "with the next rollout"
		case effect.replacesPods:
			replaces = "yes"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n",
			name, cell(effect.field.Meaning()), cell(effect.field.Default()), effect.field.Bounds(), replaces)
	}
	return table.String()
}

// headings returns the page of each heading in the folder of the documentation; the key is the heading in lower case,
// which is the anchor if the heading is one word.
func headings(t *testing.T) map[string]string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(filepath.Dir(fieldPage), "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if title, isHeading := strings.CutPrefix(line, "## "); isHeading {
				found[strings.ToLower(strings.TrimSpace(title))] = filepath.Base(page)
			}
		}
	}
	return found
}

// ruleTable lists the API server's answers to values that break a CEL rule.
func ruleTable(t *testing.T) string {
	t.Helper()
	fields, err := crd.Fields(repository)
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	table.WriteString("| field | message |\n| --- | --- |\n")
	for _, field := range fields {
		for _, rule := range field.Schema.XValidations {
			fmt.Fprintf(&table, "| `%s` | %s |\n", field.Path, cell(rule.Message))
		}
	}
	return table.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
