// Package prometheus provides the programs of Debian's package prometheus: promtool, which checks and tests rules, and
// the server. It unpacks the package into the cache of this repository, without root. Compiling the programs instead
// would take minutes, because they contain the client libraries of all clouds.
package prometheus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
)

// The programs of the package.
const (
	Promtool = "promtool"
	server   = "prometheus"
)

// unneeded lists the dependencies that are not unpacked, because the two programs do not need them. The programs use
// the C library of this machine.
var unneeded = []string{
	"adduser", "debconf", "fonts-glyphicons-halflings", "init-system-helpers", "libc6", "libjs-bootstrap4",
	"libjs-eonasdan-bootstrap-datetimepicker", "libjs-jquery", "libjs-jquery-hotkeys", "libjs-moment",
	"libjs-moment-timezone", "libjs-mustache", "libjs-popper.js", "libjs-rickshaw", "systemd", "tzdata",
}

// Path returns the path of a program. Its first call fetches the programs.
func Path(ctx context.Context, name string) (string, error) {
	home, err := builds.CacheHome()
	if err != nil {
		return "", err
	}
	program := filepath.Join(home, "bin", name+"-"+runtime.GOARCH)
	if exec.CommandContext(ctx, program, "--version").Run() == nil {
		return program, nil
	}
	if err := fetch(ctx, filepath.Dir(program)); err != nil {
		return "", fmt.Errorf("%s, of the package prometheus: %w", name, err)
	}
	return program, nil
}

// fetch unpacks the package into another folder, and moves the programs to dir when they are complete, because another
// process may look for them at the same time.
func fetch(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.MkdirTemp(dir, server+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	_, err = debian.Unpack(ctx, root, debian.Request{
		Package: "prometheus", Architecture: runtime.GOARCH, Without: unneeded,
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range []string{Promtool, server} {
		program := filepath.Join(dir, name+"-"+runtime.GOARCH)
		errs = append(errs, os.Rename(filepath.Join(root, "usr/bin", name), program))
	}
	return errors.Join(errs...)
}
