package bundle

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write makes the folder dir hold these files. Of what is there besides, it removes only what an older bundle left.
func (f Files) Write(dir string) error {
	for _, folder := range []string{"manifests", "metadata", "tests"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			return err
		}
	}
	for path, content := range f {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Read reads a bundle from a folder, without the catalog beside it.
func Read(dir string) (Files, error) {
	files := Files{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, "catalog/") {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = string(content)
		return err
	})
	return files, err
}
