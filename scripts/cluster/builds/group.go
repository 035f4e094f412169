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

// group is the programs that one call of the compiler can make.
type group struct {
	*component
	binaries []Binary

	pinned  string
	cache   string   // the folder of the programs
	missing []Binary // those that it lacks
}

func byComponent(binaries []Binary) []*group {
	var groups []*group
	for _, b := range binaries {
		i := slices.IndexFunc(groups, func(g *group) bool { return g.component == b.component })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{component: b.component})
		}
		groups[i].binaries = append(groups[i].binaries, b)
	}
	return groups
}

// find notes where the programs are, or will be.
func (g *group) find(root string, found Binaries) (err error) {
	if g.pinned, err = g.component.version(root); err != nil {
		return err
	}
	if g.cache, err = g.cacheDir(root, g.pinned); err != nil {
		return err
	}
	for _, b := range g.binaries {
		path := filepath.Join(g.cache, b.Name)
		if _, err := os.Stat(path); err != nil {
			g.missing = append(g.missing, b)
		}
		found[b.Name] = path
	}
	return nil
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

// compile builds into a folder of its own and moves at the end, so that an interrupted build leaves nothing that looks
// finished.
func (g *group) compile(ctx context.Context, root string) error {
	if err := os.MkdirAll(g.cache, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(g.cache, ".building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	args := append([]string{"build", "-o", tmp + "/"}, g.flags(g.pinned)...)
	build := goCommand(ctx, g.dir(root), append(args, g.packages()...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return failure(build, out, err)
	}
	for _, b := range g.missing {
		// A link, as one file may be several programs.
		err := os.Link(filepath.Join(tmp, outputName(b.Package)), filepath.Join(g.cache, b.Name))
		if err != nil && !errors.Is(err, fs.ErrExist) { // as another build has made the same meanwhile
			return err
		}
	}
	return nil
}

// packages are those to compile, each once.
func (g *group) packages() []string {
	packages := make([]string, len(g.missing))
	for i, b := range g.missing {
		packages[i] = b.Package
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

func (g *group) names() string {
	names := make([]string, len(g.missing))
	for i, b := range g.missing {
		names[i] = b.Name
	}
	return strings.Join(names, " ")
}
