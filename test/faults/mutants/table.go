package mutants

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// Found is how a mutant was found.
type Found struct {
	Mutant Mutant
	Rule   string // that it broke; empty if no seed found it
	By     string // the first seed that found it, or those that did not
}

// mark is where the table stands in a page.
const mark = "mutants: written by go run ./test/faults mutants"

const header = "| the operator | is found by the rule | with seed |\n| --- | --- | --- |\n"

// Row is a line of the table.
func (f Found) Row() string {
	rule, by := f.Rule, f.By
	if rule == "" {
		rule, by = "none", "not with "+by
	}
	return fmt.Sprintf("| %s | %s | %s |\n", f.Mutant.Name, rule, by)
}

// WritePage writes the table into a page. Rows of other mutants stay as they are, except of those that no longer exist.
func WritePage(file string, found []Found) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			rows[strings.TrimPrefix(cells[0], "| ")] = line
		}
	}
	for _, f := range found {
		rows[f.Mutant.Name] = f.Row()
	}
	var table strings.Builder
	table.WriteString(header)
	for _, mutant := range All() {
		table.WriteString(cmp.Or(rows[mutant.Name], fmt.Sprintf("| %s | | not tried yet |\n", mutant.Name)))
	}
	text, err := page.Replace(string(content), mark, table.String())
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // a page that everyone may read
}
