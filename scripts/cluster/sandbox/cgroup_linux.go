package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"
)

// parts is the subgroup for the cluster's processes, because in cgroup v2, a group that has subgroups must not have
// processes itself.
const parts = "parts"

// Create makes the control group in every hierarchy (v1, v2, or both), and a subgroup, by which all processes of a
// cluster can be found.
func Create(name string) error {
	found := false
	err := everywhere(name, func(group string) error {
		found = true
		if err := create(group); err != nil {
			return err
		}
		return create(filepath.Join(group, parts))
	})
	if err == nil && !found {
		err = errors.New("no control groups are mounted")
	}
	if err != nil {
		return fmt.Errorf("create control group: %w", err)
	}
	return nil
}

// join moves the calling process into the group. Processes that it starts later are in the group, too.
func join(name string) error {
	return everywhere(name, func(group string) error {
		if err := os.WriteFile(filepath.Join(group, parts, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
		return nil
	})
}

// Remove kills all processes that still run in the group, and removes the group from every hierarchy.
func Remove(ctx context.Context, name string) error {
	return everywhere(name, func(group string) error {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 20*time.Second, true,
			func(context.Context) (bool, error) { return remove(group), nil })
		if err != nil {
			return fmt.Errorf("control group %s can't be removed: %w", group, err)
		}
		return nil
	})
}

// everywhere calls a function for the group in each hierarchy.
func everywhere(name string, do func(group string) error) error {
	mounts, err := procfs.GetMounts()
	if err != nil {
		return err
	}
	for _, mount := range mounts {
		if mount.FSType == "cgroup" || mount.FSType == "cgroup2" {
			if err := do(filepath.Join(mount.MountPoint, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func create(dir string) error {
	parent := filepath.Dir(dir)
	// In cgroup v2, a subgroup gets a cgroup controller only on request. Errors are ignored here: if a cgroup controller
	// that the kubelet needs is missing, the kubelet reports it better than this function could.
	if controllers, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers")); err == nil {
		for controller := range strings.FieldsSeq(string(controllers)) {
			_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// In cgroup v1, a new cpuset is empty. It accepts no process until its CPUs and memory nodes are set.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(parent, file))
		if err != nil || strings.TrimSpace(string(value)) == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// remove tries once to remove a tree of groups, subgroups first, and reports whether it succeeded.
func remove(dir string) bool {
	var groups []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			groups = append(groups, path)
		}
		return nil // the group has already been removed
	})
	for _, group := range slices.Backward(groups) {
		if os.Remove(group) != nil {
			kill(group)
		}
	}
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

func kill(group string) {
	procs, _ := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	for line := range strings.FieldsSeq(string(procs)) {
		if pid, err := strconv.Atoi(line); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
