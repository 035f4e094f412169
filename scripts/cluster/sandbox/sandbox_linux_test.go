package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHierarchy(t *testing.T) {
	tests := map[string]struct {
		line, want string
		ok         bool
	}{
		"a v1 controller is one":          {"cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0", "/sys/fs/cgroup/cpu", true},
		"the unified one is one":          {"cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0", "/sys/fs/cgroup", true},
		"the tmpfs that holds v1 is none": {"tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0", "", false},
		"a broken line is none":           {"cgroup", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := hierarchy(tc.line); got != tc.want || ok != tc.ok {
				t.Errorf("hierarchy() = %q, %t, want %q, %t", got, ok, tc.want, tc.ok)
			}
		})
	}
}

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

func TestClustersOfOneNameInTwoCachesHaveTwoControlGroups(t *testing.T) {
	one, other := Cgroup("/a/clusters/demo"), Cgroup("/b/clusters/demo")
	if one == other || !strings.HasPrefix(one, "memcached-operator-demo-") {
		t.Errorf("got %s and %s, want two that have the cluster's name", one, other)
	}
}
