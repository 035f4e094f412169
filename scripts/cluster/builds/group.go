package builds

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// group is the programs of a component, which one call of the compiler makes.
type group struct {
	*component
	binaries []Binary
	pinned   string // version
	cache    string // the folder of the programs, which exists once all of them are built
}

func byComponent(root string, binaries []Binary) (groups []*group, err error) {
	for _, b := range binaries {
		i := slices.IndexFunc(groups, func(g *group) bool { return g.component == b.component })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{component: b.component})
		}
		groups[i].binaries = append(groups[i].binaries, b)
	}
	for _, g := range groups {
		if g.pinned, err = g.version(root); err != nil {
			return nil, err
		}
		if g.cache, err = g.cacheDir(root, g.pinned, g.names()); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

func (g *group) isBuilt() bool {
	_, err := os.Stat(g.cache)
	return err == nil
}

// fetchAhead downloads the modules of the later groups while an earlier one compiles. What goes wrong shows in the
// group's build, which downloads what is still missing.
func fetchAhead(ctx context.Context, root string, groups []*group) (wait func()) {
	var fetching sync.WaitGroup
	fetching.Go(func() {
		for _, g := range groups[min(1, len(groups)):] {
			list := append([]string{"list", g.modfile(), "-deps", "-tags=" + g.tags}, g.packages()...)
			_ = goCommand(ctx, g.dir(root), list...).Run()
		}
	})
	return fetching.Wait
}

func (g *group) build(ctx context.Context, root string) error {
	return progress.Stage(ctx, "Build "+g.name+" "+g.pinned, func(update func(string)) error {
		update(g.names())
		return g.compile(ctx, root)
	})
}

// compile builds into a folder that gets its name at the end, so that an interrupted build leaves nothing that looks
// finished.
func (g *group) compile(ctx context.Context, root string) error {
	if err := os.MkdirAll(filepath.Dir(g.cache), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(g.cache), ".building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	args := append([]string{"build", "-o", tmp + "/"}, g.flags(g.pinned)...)
	build := goCommand(ctx, g.dir(root), append(args, g.packages()...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return failure(build, out, err)
	}
	for _, b := range g.binaries {
		// A link, as one file may be several programs.
		err := os.Link(filepath.Join(tmp, outputName(b.Package)), filepath.Join(tmp, b.Name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	err = errors.Join(os.Chmod(tmp, 0o755), os.Rename(tmp, g.cache))
	if g.isBuilt() {
		return nil // by this build, or by another one meanwhile
	}
	return err
}

// packages are those to compile, each once.
func (g *group) packages() []string {
	packages := make([]string, len(g.binaries))
	for i, b := range g.binaries {
		packages[i] = b.Package
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

func (g *group) names() string {
	names := make([]string, len(g.binaries))
	for i, b := range g.binaries {
		names[i] = b.Name
	}
	return strings.Join(names, " ")
}
