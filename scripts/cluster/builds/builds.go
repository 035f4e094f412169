// Package builds makes the programs of the local cluster from the Go modules that the go.mod files beside it pin, and
// keeps them in the user's cache: another clone of the repository finds them there.
package builds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Binaries maps the programs that were asked for to their files, by name.
type Binaries map[string]string

// Path returns the file of a program. Asking for one that wasn't built is a mistake in the code.
func (b Binaries) Path(binary Binary) string {
	path, ok := b[binary.Name]
	if !ok {
		panic(fmt.Sprintf("%s was not asked for", binary.Name))
	}
	return path
}

// Ensure builds those of the programs that the cache lacks.
func Ensure(ctx context.Context, binaries ...Binary) (Binaries, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	groups, err := byComponent(root, binaries)
	if err != nil {
		return nil, err
	}
	found := Binaries{}
	for _, g := range groups {
		for _, b := range g.binaries {
			found[b.Name] = filepath.Join(g.cache, b.Name)
		}
	}
	missing := slices.DeleteFunc(groups, (*group).isBuilt)
	fetching, stop := context.WithCancel(ctx)
	wait := fetchAhead(fetching, root, missing)
	defer wait()
	defer stop()
	for _, g := range missing {
		if err := g.build(ctx, root); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Assets builds what tests against a real API server need, simulated Nodes included, and returns the folder that has
// etcd and kube-apiserver, as envtest expects.
func Assets(ctx context.Context) (dir string, err error) {
	binaries, err := Ensure(ctx, Simulated()...)
	if err != nil {
		return "", err
	}
	return filepath.Dir(binaries.Path(KubeAPIServer)), nil
}

// Self returns the cluster program, for its hidden command `supervise`: the calling program where it is that one, as
// with `go run ./scripts/cluster`; else it is built from this tree, which takes a second when nothing changed.
func Self(ctx context.Context) (string, error) {
	const program = rootModule + "/scripts/cluster"
	if info, ok := debug.ReadBuildInfo(); ok && info.Path == program {
		return os.Executable()
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	home, err := CacheHome()
	if err != nil {
		return "", err
	}
	path := filepath.Join(home, "bin", "cluster-"+hash(root), "cluster")
	build := goCommand(ctx, root, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, program)
	if out, err := build.CombinedOutput(); err != nil {
		return "", failure(build, out, err)
	}
	return path, nil
}

// Version returns the pinned version of a program, like v1.36.3.
func Version(binary Binary) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return binary.version(root)
}

// ModuleDir returns the folder of the module a program comes from, for the manifests in it.
func ModuleDir(ctx context.Context, binary Binary) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	c := binary.component
	list := goCommand(ctx, c.dir(root), "list", "-m", c.modfile(), "-f", "{{.Dir}}", c.module)
	out, err := list.Output()
	if err != nil {
		return "", failure(list, out, err)
	}
	return strings.TrimSpace(string(out)), nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// A go.work of the user's, or flags meant for another module, must not reach the pinned builds.
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		// The compiler saves a fifth of its time, for a third more memory: 0.6 instead of 0.5 GB for the largest package.
		cmd.Env = append(cmd.Env, "GOGC=400", "GOMEMLIMIT=2GiB")
	}
	return cmd
}

// failure says which command failed, where, and the end of what it wrote: enough to repeat it by hand.
func failure(cmd *exec.Cmd, output []byte, err error) error {
	const tail = 15
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		output = append(output, exit.Stderr...)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	lines = lines[max(0, len(lines)-tail):]
	return fmt.Errorf("%s (in %s): %w\n%s%s", strings.Join(cmd.Args, " "), cmd.Dir, err, strings.Join(lines, "\n"),
		hint(string(output)+err.Error()))
}
