// Package promtool brings Prometheus' own program that checks and tests rules: the one of the machine's distribution,
// unpacked into the cache of this repository. It needs no root, and the machine's packages stay as they are.
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

// without is what the package prometheus brings for its server and its pages. Promtool needs the C library alone, and
// takes the machine's.
var without = []string{
	"adduser", "debconf", "fonts-glyphicons-halflings", "init-system-helpers", "libc6", "libjs-bootstrap4",
	"libjs-eonasdan-bootstrap-datetimepicker", "libjs-jquery", "libjs-jquery-hotkeys", "libjs-moment",
	"libjs-moment-timezone", "libjs-mustache", "libjs-popper.js", "libjs-rickshaw", "systemd", "tzdata",
}

// Path returns where promtool is. The first time it fetches it.
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

// fetch puts the program in its place when it is whole: others may look for it at the same time.
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
		Package: "prometheus", Architecture: debian.Architecture(runtime.GOARCH), Without: without,
	})
	if err != nil {
		return err
	}
	return os.Rename(filepath.Join(root, "usr/bin", name), program)
}
