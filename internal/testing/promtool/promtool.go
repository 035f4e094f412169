// Package promtool provides the program promtool, which checks and tests Prometheus rules, from Debian's package. It
// unpacks the package into the cache of this repository, without root. To compile promtool would take minutes: it
// contains the client libraries of all clouds.
package promtool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
)

const name = "promtool"

// without are dependencies of the server. Promtool needs only the C library, and uses this machine's.
var without = []string{
	"adduser", "debconf", "fonts-glyphicons-halflings", "init-system-helpers", "libc6", "libjs-bootstrap4",
	"libjs-eonasdan-bootstrap-datetimepicker", "libjs-jquery", "libjs-jquery-hotkeys", "libjs-moment",
	"libjs-moment-timezone", "libjs-mustache", "libjs-popper.js", "libjs-rickshaw", "systemd", "tzdata",
}

// Path returns the path of promtool, and fetches it the first time.
func Path(ctx context.Context) (string, error) {
	home, err := builds.CacheHome()
	if err != nil {
		return "", err
	}
	program := filepath.Join(home, "bin", name+"-"+runtime.GOARCH)
	if exec.CommandContext(ctx, program, "--version").Run() == nil {
		return program, nil
	}
	if err := fetch(ctx, program); err != nil {
		return "", fmt.Errorf("%s, of the package prometheus: %w", name, err)
	}
	return program, nil
}

// fetch moves the complete program into place, because another process may look for it at the same time.
func fetch(ctx context.Context, program string) error {
	dir := filepath.Dir(program)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.MkdirTemp(dir, name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	_, err = debian.Unpack(ctx, root, debian.Request{
		Package: "prometheus", Architecture: runtime.GOARCH, Without: without,
	})
	if err != nil {
		return err
	}
	return os.Rename(filepath.Join(root, "usr/bin", name), program)
}
