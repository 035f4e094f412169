package builds

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Version returns the pinned version, like v1.36.3.
func (c *Component) Version() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	require := `(?m)^(?:require |\t)` + regexp.QuoteMeta(c.module) + ` (v\S+)`
	return worktree.Place{File: c.mod, Find: require}.Read(root)
}

// ModuleDir returns the folder of the component's module, from which callers read manifests.
func (c *Component) ModuleDir(ctx context.Context) (string, error) {
	return c.run(ctx, "list", c.modfile(), "-m", "-f", "{{.Dir}}", c.module)
}

// fetch downloads the modules of components. It ignores errors, because the builds download missing modules, and report
// errors.
func fetch(ctx context.Context, components []*Component) {
	for _, c := range components {
		_, _ = c.run(ctx, append([]string{"list", c.modfile(), "-deps", "-tags=" + c.tags}, c.packages()...)...)
	}
}

// build compiles the programs into a temporary folder, which gets its final name at the end. So an interrupted build
// leaves nothing that looks finished.
func (c *Component) build(ctx context.Context) error {
	version, err := c.Version()
	if err != nil {
		return err
	}
	cache, err := c.cacheDir()
	if err != nil {
		return err
	}
	tmp, err := scratch(filepath.Dir(cache))
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	err = progress.Stage(ctx, "Build "+c.name+" "+version, func(update func(string)) error {
		update(c.names())
		args := slices.Concat([]string{"build", "-o", tmp + "/"}, c.flags(version), c.packages())
		_, err := c.run(ctx, args...)
		return err
	})
	if err != nil {
		return err
	}
	err = errors.Join(c.link(tmp), os.Chmod(tmp, 0o755), os.Rename(tmp, cache))
	if exists(cache) {
		return nil // exists by this build, or by another one at the same time
	}
	return err
}

// link makes a link with the name of each program, because several programs may be one file.
func (c *Component) link(dir string) error {
	for _, p := range c.programs {
		pkg, _, _ := module.SplitPathVersion(p.pkg) // as `go build` names the file
		err := os.Link(filepath.Join(dir, path.Base(pkg)), filepath.Join(dir, p.name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// cacheDir returns a folder whose name depends on all inputs of a build, but not on the path of the tree. So a build
// with a changed pin, compiler or flag never finds the previous programs.
func (c *Component) cacheDir() (string, error) {
	version, err := c.Version()
	if err != nil {
		return "", err
	}
	home, err := CacheHome()
	if err != nil {
		return "", err
	}
	file, err := c.file()
	if err != nil {
		return "", err
	}
	mod := strings.TrimSuffix(filepath.Base(file), ".mod")
	inputs := append([]string{c.names(), runtime.Version(), runtime.GOOS, runtime.GOARCH}, c.flags(version)...)
	err = filepath.WalkDir(filepath.Dir(file), func(file string, _ fs.DirEntry, err error) error {
		name := filepath.Base(file)
		if err != nil || filepath.Ext(name) != ".go" && name != mod+".mod" && name != mod+".sum" {
			return err
		}
		content, err := os.ReadFile(file)
		inputs = append(inputs, name, string(content))
		return err
	})
	return filepath.Join(home, "bin", fmt.Sprintf("%s-%s-%s", c.name, version, hash(inputs...))), err
}

// hash returns a hash of the inputs, which is short enough for the name of a folder.
func hash(inputs ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(inputs, "\x00")))
	return fmt.Sprintf("%x", sum[:6])
}

// file returns the path of the component's go.mod in this tree.
func (c *Component) file() (string, error) {
	root, err := Root()
	return filepath.Join(root, c.mod), err
}

func (c *Component) run(ctx context.Context, args ...string) (string, error) {
	file, err := c.file()
	if err != nil {
		return "", err
	}
	return runGo(ctx, filepath.Dir(file), args...)
}

// modfile returns the flag of the go command that chooses the component's go.mod among several such files in one
// folder.
func (c *Component) modfile() string { return "-modfile=" + path.Base(c.mod) }

func (c *Component) flags(version string) []string {
	ldflags := "-s -w"
	if c.stamp != "" {
		ldflags += " -X " + c.stamp + "=" + version
	}
	flags := []string{c.modfile(), "-trimpath", "-buildvcs=false", "-ldflags=" + ldflags}
	if c.tags != "" {
		flags = append(flags, "-tags="+c.tags)
	}
	return flags
}

// packages returns the packages to compile, each once.
func (c *Component) packages() (packages []string) {
	for _, p := range c.programs {
		packages = append(packages, p.pkg)
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

func (c *Component) names() string {
	var names []string
	for _, p := range c.programs {
		names = append(names, p.name)
	}
	return strings.Join(names, " ")
}
