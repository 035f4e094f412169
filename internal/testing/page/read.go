package page

import (
	"os"
	"regexp"
	"testing"
)

// Read returns the text of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Find returns what the first group of a regular expression matches in a text. The test fails if the expression does
// not match.
func Find(t testing.TB, text, expression string) string {
	t.Helper()
	found := regexp.MustCompile(expression).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("nothing is like %s", expression)
	}
	return found[1]
}
