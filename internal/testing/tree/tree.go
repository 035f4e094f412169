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

// Read returns the content of each file by its path below a folder, without the files in .git.
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

// Copy copies folders of a repository, and returns the folder that has the copies. There are no symbolic links in its
// path.
func Copy(t testing.TB, from string, folders ...string) string {
	t.Helper()
	to, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(filepath.Join(from, folder))); err != nil {
			t.Fatal(err)
		}
	}
	return to
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
