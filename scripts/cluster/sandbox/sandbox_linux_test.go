package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACpusetIsFilledFromItsParent(t *testing.T) {
	parent := t.TempDir()
	if err := os.WriteFile(filepath.Join(parent, "cpuset.cpus"), []byte("0-1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	child := filepath.Join(parent, "child")
	for range 2 { // what exists already is no failure
		if err := create(child); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(child, "cpuset.cpus")); err != nil || string(got) != "0-1\n" {
		t.Errorf("cpuset.cpus = %q, %v", got, err)
	}
}

func TestATreeOfControlGroupsIsRemovedLeavesFirst(t *testing.T) {
	root := filepath.Join(t.TempDir(), "cluster")
	if err := os.MkdirAll(filepath.Join(root, "kubepods", "pod1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it does not exist
		if !remove(root) {
			t.Error("the tree still exists")
		}
	}
}

func TestOnlyFoldersUnderACoverHaveToBeUncovered(t *testing.T) {
	dirs := []string{"/home/me/.cache/x", "/var/lib/ci/.cache/x", "/variable", "/tmp/x", "/usr/lib/cni"}
	want := []string{"/var/lib/ci/.cache/x", "/tmp/x"}
	if diff := cmp.Diff(want, isCovered(dirs)); diff != "" {
		t.Error(diff)
	}
}
