// Package variants builds operators that differ from the operator of this commit in some lines of their source, without
// changing the tree: the compiler reads the changed files instead (go build -overlay).
package variants

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Edit replaces a piece of text, which must be in the file exactly once.
type Edit struct {
	File string // from the root of the repository
	Old  string // empty adds a file
	New  string
}

// Build builds the operator with edits, and writes the program to a path.
func Build(ctx context.Context, root, to string, edits ...Edit) error {
	overlay, err := write(root, to+".overlay", edits)
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", to, "./operator/cmd/manager")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the operator: %w\n%s", err, out)
	}
	return nil
}

// write writes the changed files to a folder, and returns the path of the file for -overlay.
func write(root, dir string, edits []Edit) (string, error) {
	content, err := Apply(root, edits)
	if err != nil {
		return "", err
	}
	clock, err := clock(root, content)
	if err != nil {
		return "", err
	}
	for _, edit := range clock {
		content[edit.File] = edit.New
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, text := range content {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		overlay.Replace[filepath.Join(root, file)] = path
		if err := writeFile(path, []byte(text)); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, writeFile(path, list)
}

// Apply returns the text of each changed file.
func Apply(root string, edits []Edit) (map[string]string, error) {
	content := map[string]string{}
	for _, edit := range edits {
		changed, err := edit.apply(root, content[edit.File])
		if err != nil {
			return nil, err
		}
		content[edit.File] = changed
	}
	return content, nil
}

// apply returns the file's text after the edit; before is its text after earlier edits, if there are any.
func (e Edit) apply(root, before string) (string, error) {
	if e.Old == "" {
		return e.New, nil
	}
	if before == "" {
		content, err := os.ReadFile(filepath.Join(root, e.File))
		if err != nil {
			return "", err
		}
		before = string(content)
	}
	if n := strings.Count(before, e.Old); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, want once: adapt the variant to the changed source", e.File, e.Old, n)
	}
	return strings.Replace(before, e.Old, e.New, 1), nil
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
