package oci

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// The test of all architectures runs the memcached of each architecture, with the libraries that this package finds for
// it.

func TestAProgramComesLastAfterItsLoaderAndLibraries(t *testing.T) {
	files, err := tree("/").files("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, path.Base(file.path))
	}
	hasLoader := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "ld") })
	if !slices.Contains(names, "libc.so.6") || !hasLoader || names[len(names)-1] != "sh" {
		t.Errorf("files %q", names)
	}
}

func TestAMissingLibraryIsNamedWithItsProgram(t *testing.T) {
	root := t.TempDir()
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := worktree.WriteFile(filepath.Join(root, "bin/sh"), shell, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := tree(root).files("/bin/sh"); err == nil || !strings.HasPrefix(err.Error(), "libraries of /bin/sh: ") {
		t.Errorf("error: %v", err)
	}
}
