package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMakeRunsAllEndToEndTests: the end-to-end tests of a package would never run if no target of the Makefile named
// it.
func TestMakeRunsAllEndToEndTests(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	const root = "../.."
	found := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.HasPrefix(string(content), "//go:build e2e\n") {
			folder, _ := filepath.Rel(root, filepath.Dir(path))
			found[folder] = true
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for folder := range found {
		if !regexp.MustCompile(`[ /]` + regexp.QuoteMeta(folder) + `[ ;\\\n]`).Match(makefile) {
			t.Errorf("no target of the Makefile runs the end-to-end tests of %s", folder)
		}
	}
}
