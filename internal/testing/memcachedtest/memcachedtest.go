// Package memcachedtest starts real memcacheds for tests. If the machine's memcached is too old for slots, the package
// unpacks the memcached of a newer Debian, with its libraries, into the cache of this repository. That needs no root.
package memcachedtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
)

// without are dependencies that an unpacked memcached does not need.
var without = []string{"adduser", "init-system-helpers", "lsb-base", "perl", "sysvinit-utils", "debconf", "systemd"}

// command returns the beginning of the command that starts a memcached that is new enough.
func command(ctx context.Context) ([]string, error) {
	if path, err := exec.LookPath("memcached"); err == nil && isNew(ctx, path) {
		return []string{path}, nil
	}
	home, err := builds.CacheHome()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(home, "memcached-"+debian.SuiteForSlots+"-"+runtime.GOARCH)
	if _, err := os.Stat(root); err != nil {
		if err := fetch(ctx, root); err != nil {
			return nil, fmt.Errorf("memcached of Debian %s: %w", debian.SuiteForSlots, err)
		}
	}
	return unpacked(root)
}

// unpacked returns the beginning of a command that starts the unpacked memcached with the unpacked loader and
// libraries, because those of this machine may be older.
func unpacked(root string) ([]string, error) {
	loaders, err := filepath.Glob(filepath.Join(root, "usr/lib*/ld-linux*"))
	if err != nil || len(loaders) == 0 {
		return nil, fmt.Errorf("%s has no loader of programs: %w", root, err)
	}
	libraries, err := filepath.Glob(filepath.Join(root, "usr/lib/*/libc.so.6"))
	if err != nil || len(libraries) == 0 {
		return nil, fmt.Errorf("%s has no C library: %w", root, err)
	}
	return []string{
		loaders[0], "--library-path", filepath.Dir(libraries[0]), filepath.Join(root, "usr/bin/memcached"),
	}, nil
}

// fetch unpacks memcached into another folder, and renames the folder to root when it is complete, because another
// process may look for root at the same time.
func fetch(ctx context.Context, root string) error {
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		return err
	}
	next, err := os.MkdirTemp(filepath.Dir(root), "memcached-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next)
	if _, err := debian.Unpack(ctx, next, debian.Request{
		Package: "memcached", Architecture: runtime.GOARCH, Suite: debian.SuiteForSlots, Without: without,
	}); err != nil {
		return err
	}
	if err := os.Rename(next, root); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

// isNew reports whether a memcached is new enough for slots: from 1.6.40.
func isNew(ctx context.Context, path string) bool {
	out, err := exec.CommandContext(ctx, path, "-V").Output()
	if err != nil {
		return false
	}
	parts := strings.Split(strings.TrimSpace(strings.TrimPrefix(string(out), "memcached ")), ".")
	if len(parts) != 3 {
		return false
	}
	patch, err := strconv.Atoi(parts[2])
	return err == nil && (parts[0] != "1" || parts[1] != "6" || patch >= 40)
}
