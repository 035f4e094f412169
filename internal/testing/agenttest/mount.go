// Package agenttest creates what the tests of the agent need: Secrets, mounted as the kubelet does, and certificates.
package agenttest

import (
	"os"
	"path/filepath"
	"testing"
)

// Mount mounts a version of a Secret: it writes the version into a new folder, makes the link ..data point to that
// folder in one step, links the entries, and removes the folder of the previous version.
func Mount(t testing.TB, dir string, secret map[string]string) {
	t.Helper()
	data := filepath.Join(dir, "..data")
	before, _ := os.Readlink(data)
	version, err := os.MkdirTemp(dir, "..version_")
	check(t, err)
	for name, content := range secret {
		check(t, os.WriteFile(filepath.Join(version, name), []byte(content), 0o600))
	}
	check(t, os.Symlink(filepath.Base(version), data+"_tmp"))
	check(t, os.Rename(data+"_tmp", data))
	for name := range secret {
		if _, err := os.Lstat(filepath.Join(dir, name)); os.IsNotExist(err) {
			check(t, os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)))
		}
	}
	if before != "" {
		check(t, os.RemoveAll(filepath.Join(dir, before)))
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
