// Package builds makes the programs of the local cluster from the Go modules that the wrapper
// modules beside it pin, and keeps them in a cache outside of the tree.
package builds

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Binaries says where the programs that were asked for lie.
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
	found := Binaries{}
	for _, group := range byWrapper(binaries) {
		if err := group.ensure(ctx, root, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Assets builds what tests against a real API server need, simulated nodes included, and returns a folder that holds
// it all, as envtest wants it.
func Assets(ctx context.Context) (dir string, err error) {
	parts := Simulated()
	binaries, err := Ensure(ctx, parts...)
	if err != nil {
		return "", err
	}
	// The folder's name comes from those of the builds, so its links never have to change.
	server := binaries.Path(KubeAPIServer)
	dir = filepath.Dir(server) + "-with-" + filepath.Base(filepath.Dir(binaries.Path(Etcd)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, binary := range parts {
		err := os.Symlink(binaries.Path(binary), filepath.Join(dir, binary.Name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return dir, nil
}

// Version returns the pinned version of a program, like v1.36.3.
func Version(binary Binary) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return binary.wrapper.version(root)
}

// ModuleDir returns the folder of the module a program comes from, for the manifests that lie in it.
func ModuleDir(ctx context.Context, binary Binary) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	w := binary.wrapper
	list := goCommand(ctx, filepath.Join(root, w.dir), "list", "-m", "-f", "{{.Dir}}", w.module)
	out, err := list.Output()
	if err != nil {
		return "", failure(list, out, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// group is the programs that one call of the compiler can make.
type group struct {
	*wrapper
	binaries []Binary
}

func byWrapper(binaries []Binary) []*group {
	var groups []*group
	index := map[*wrapper]*group{}
	for _, b := range binaries {
		g, ok := index[b.wrapper]
		if !ok {
			g = &group{wrapper: b.wrapper}
			index[b.wrapper] = g
			groups = append(groups, g)
		}
		g.binaries = append(g.binaries, b)
	}
	return groups
}

func (g *group) ensure(ctx context.Context, root string, found Binaries) error {
	version, err := g.version(root)
	if err != nil {
		return err
	}
	dir, err := g.cacheDir(root, version)
	if err != nil {
		return err
	}
	var missing []Binary
	for _, b := range g.binaries {
		path := filepath.Join(dir, b.Name)
		if _, err := os.Stat(path); err != nil {
			missing = append(missing, b)
		}
		found[b.Name] = path
	}
	if len(missing) == 0 {
		return nil
	}
	return progress.Stage(ctx, "Build "+g.component+" "+version, func(update func(string)) error {
		update(names(missing))
		return g.build(ctx, root, version, dir, missing)
	})
}

// build compiles into a folder of its own and renames at the end, so that an interrupted build
// leaves nothing that looks finished.
func (g *group) build(ctx context.Context, root, version, dir string, missing []Binary) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	args := append([]string{"build", "-o", tmp + "/"}, g.flags(version)...)
	for _, b := range missing {
		args = append(args, b.Package)
	}
	build := goCommand(ctx, filepath.Join(root, g.dir), args...)
	if out, err := build.CombinedOutput(); err != nil {
		return failure(build, out, err)
	}
	for _, b := range missing {
		if err := os.Rename(filepath.Join(tmp, outputName(b.Package)), filepath.Join(dir, b.Name)); err != nil {
			return err
		}
	}
	return nil
}

func (w *wrapper) flags(version string) []string {
	ldflags := "-s -w"
	if w.stamp != "" {
		ldflags += " -X " + w.stamp + "=" + version
	}
	flags := []string{"-trimpath", "-buildvcs=false", "-ldflags=" + ldflags}
	if w.tags != "" {
		flags = append(flags, "-tags="+w.tags)
	}
	return flags
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// A go.work of the user's, or flags meant for another module, must not reach the pinned builds.
	cmd.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	return cmd
}

func names(binaries []Binary) string {
	list := make([]string, len(binaries))
	for i, b := range binaries {
		list[i] = b.Name
	}
	return strings.Join(list, " ")
}

// failure says which command failed, where, and the end of what it wrote: enough to repeat it by hand.
func failure(cmd *exec.Cmd, output []byte, err error) error {
	const tail = 15
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		output = append(output, exit.Stderr...)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	lines = lines[max(0, len(lines)-tail):]
	return fmt.Errorf("%s (in %s): %w\n%s", strings.Join(cmd.Args, " "), cmd.Dir, err, strings.Join(lines, "\n"))
}
