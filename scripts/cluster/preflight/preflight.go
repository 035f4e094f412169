// Package preflight checks whether a machine can run a local cluster, reports everything that is missing in one error,
// and installs missing packages if it may.
package preflight

import (
	"context"
	_ "embed" // for the script
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Ensure prepares the machine for a cluster, or reports everything that is missing in one error.
func Ensure(ctx context.Context, needs []Need, mayInstall bool) error {
	missing := slices.DeleteFunc(slices.Clone(needs), Need.Installed)
	err := verdict(runtime.GOOS, os.Geteuid() == 0, missing, mayInstall && apt.Installed())
	if err != nil || len(missing) == 0 {
		return err
	}
	if err := install(ctx, missing); err != nil {
		return err
	}
	return Ensure(ctx, missing, false)
}

// pluginDirs are the folders in which distributions have the network plugins.
var pluginDirs = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// Program returns the path of a program of the system, even if its folder is not in the search path of an ordinary
// user, or of another file that a Need names.
func Program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return search(name, append([]string{"/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/share/keyrings"}, pluginDirs...))
}

// CNIDir returns the folder of the network plugins.
func CNIDir() (string, error) {
	path, err := search(ptp.Program, pluginDirs)
	return filepath.Dir(path), err
}

func search(name string, dirs []string) (string, error) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is in none of %s: %w", name, strings.Join(dirs, " "), fs.ErrNotExist)
}

// Installed reports whether this machine has the program or file of the Need.
func (n Need) Installed() bool {
	_, err := Program(n.Program)
	return err == nil
}

// verdict returns an error with all problems. The error is nil if nothing is missing, or if everything that is missing
// can be installed.
func verdict(system string, isRoot bool, missing []Need, canInstall bool) error {
	var problems []string
	if system != "linux" {
		problems = append(problems, fmt.Sprintf("a real Node needs the namespaces of Linux, and this system is %s: use `up "+
			"--nodes simulated`, or a Linux machine, which may be virtual", system))
	}
	if !isRoot {
		problems = append(problems, "root is needed, to make namespaces and mounts: run the command with sudo")
	}
	if !canInstall || len(problems) > 0 {
		for _, need := range missing {
			problems = append(problems, fmt.Sprintf("%s, which %s, is missing", need.Program, need.Why))
		}
		if len(missing) > 0 {
			problems = append(problems, "install what is missing: apt-get install "+strings.Join(packages(missing), " "))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New("this machine can't run the cluster:\n  - " + strings.Join(problems, "\n  - "))
}

// packages returns the packages of the needs, each once.
func packages(needs []Need) (names []string) {
	for _, need := range needs {
		if !slices.Contains(names, need.Package) {
			names = append(names, need.Package)
		}
	}
	return names
}

//go:embed install.sh
var script string

// install makes apt-get install the missing packages. It prints the names of all packages before it begins. It never
// interrupts apt-get, because an interrupted apt-get would leave packages half installed.
func install(ctx context.Context, missing []Need) error {
	names := packages(missing)
	progress.Note(ctx, "This needs packages of your distribution, which apt-get now installs: %s",
		strings.Join(names, " "))
	return progress.Stage(ctx, "Install packages", func(update func(string)) error {
		update(strings.Join(names, " "))
		command := exec.CommandContext(context.WithoutCancel(ctx), "sh", append([]string{"-c", script, "sh"}, names...)...)
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C on the terminal does not reach it.
		if out, err := command.CombinedOutput(); err != nil {
			// apt-get says "Unable to locate package" even if it reached no mirror, because apt-get update succeeds without a
			// mirror.
			return fmt.Errorf("apt-get install %s: %w\n%s\nCheck whether apt-get update reaches the mirrors of your "+
				"distribution, and run the command again", strings.Join(names, " "), err, out)
		}
		return nil
	})
}
