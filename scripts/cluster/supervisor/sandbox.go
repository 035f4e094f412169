package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// covered are the folders in which programs write at fixed places (sockets, network namespaces,
// address leases, logs). The cluster finds them empty, and nothing it writes there outlives it.
var covered = []string{"/run", "/var", "/tmp"}

// isolate makes the mount namespace the cluster's own: nothing mounted in it from now on is seen
// outside, and the machine's files are seen as they are but for the covered folders.
func isolate(config Config) error {
	// Slave first, which cuts the way out; shared then, as the kubelet's mounts must reach containers.
	for _, propagation := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
			return fmt.Errorf("set mount propagation: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	kept, err := open(keep(config))
	if err != nil {
		return err
	}
	for _, dir := range covered {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
			return fmt.Errorf("cover %s: %w", dir, err)
		}
	}
	for _, file := range kept {
		if err := uncover(file); err != nil {
			return fmt.Errorf("keep %s: %w", file.Name(), err)
		}
	}
	return errors.Join(
		os.Chmod("/tmp", 0o1777),
		os.Symlink("/run", "/var/run"),
		os.MkdirAll("/var/tmp", 0o1777),
	)
}

// keep lists what the cluster needs although it may lie in a covered folder.
func keep(config Config) []string {
	dirs := []string{string(config.Dir), config.CNIDir}
	for _, binary := range config.Binaries {
		dirs = append(dirs, filepath.Dir(binary))
	}
	return isCovered(dirs)
}

func isCovered(dirs []string) []string {
	var hidden []string
	for _, dir := range dirs {
		for _, cover := range covered {
			if strings.HasPrefix(dir, cover+"/") {
				hidden = append(hidden, dir)
			}
		}
	}
	return hidden
}

func open(dirs []string) ([]*os.File, error) {
	var files []*os.File
	for _, dir := range dirs {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", dir, err)
		}
		files = append(files, os.NewFile(uintptr(fd), dir))
	}
	return files, nil
}

// uncover mounts an open folder at the path it had before that was covered.
func uncover(dir *os.File) error {
	defer dir.Close()
	if err := os.MkdirAll(dir.Name(), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return unix.Mount(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), dir.Name(), "", unix.MS_BIND, "")
}
