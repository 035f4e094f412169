// Package tree writes and reads the files of a folder for tests.
package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Write writes files by their paths below a folder.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := worktree.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Read returns the content of each file by its path below a folder, without Git's own.
func Read(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Git runs one git command in a folder and returns what it prints.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := worktree.Git(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
