// Package page compares the tables in a page of the documentation with what the code says, and writes them.
package page

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tables checks that each table stands in the page between the markers of its name. With update it writes them instead.
func Tables(t testing.TB, file string, update bool, tables map[string]string) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after := string(before)
	for name, table := range tables {
		after = replace(t, file, after, name, table)
	}
	if update {
		if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(after, string(before)); diff != "" {
		t.Errorf("run make generate (-want +got):\n%s", diff)
	}
}

func replace(t testing.TB, file, text, name, table string) string {
	t.Helper()
	after, err := Replace(text, name+": written by make generate", table)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return after
}

// Replace replaces the text between a marker and the next end marker.
func Replace(text, mark, table string) (string, error) {
	const end = "<!-- end -->"
	mark = "<!-- " + mark + " -->\n"
	head, rest, found := strings.Cut(text, mark)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("no place %s", strings.TrimSpace(mark))
	}
	return head + mark + table + end + tail, nil
}
