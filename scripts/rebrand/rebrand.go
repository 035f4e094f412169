// Command rebrand gives the project another module path, API group, registry and name. It is the first step of a fork.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	var change identity
	var check string
	var dryRun bool
	command := &cobra.Command{
		Use:   "rebrand",
		Short: "Change module path, API group, registry and project name everywhere",
		Long: "Rebrand reads the current names from go.mod, PROJECT and Makefile, and replaces them in the text and the\n" +
			"path of every file. It works in a copy: there it writes the generated files again, builds all modules and " +
			"all\noverlays, and looks for old names. Only if all this succeeds does it change this tree. A name that you " +
			"leave out stays.\n" +
			"The tree must have no uncommitted changes; git restore undoes a rebrand. docs/forking.md explains each name.",
		Example: "  go run ./scripts/rebrand --module github.com/YOU/REPOSITORY --group cache.YOUR.DOMAIN \\\n" +
			"    --registry ghcr.io/YOU --name YOU-memcached --dry-run",
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&change.Module, "module", "", "path of the Go module: the address of the repository without https://")
	flags.StringVar(&change.Group, "group", "", "API group, and prefix of the annotations: a DNS name that you own")
	flags.StringVar(&change.Registry, "registry", "", "registry of the images: host, port and path")
	flags.StringVar(&change.Name, "name", "", "name of the project, with which the names of its objects begin")
	flags.StringVar(&check, "check", "", "another command to run in the rebranded copy, such as 'make test'")
	flags.BoolVar(&dryRun, "dry-run", false, "change nothing, and print what would change")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := worktree.Root(command.Context())
		if err != nil {
			return err
		}
		c := &copied{root: root, out: command.OutOrStdout()}
		return c.rebrand(command.Context(), change, check, dryRun)
	}
	return command
}

// copied is a copy of the tree at root. The copy gets the new names.
type copied struct {
	rewriter

	root, dir string
	out       io.Writer
}

// rebrand gives the new names to the tree, once the copy has them and passes all checks.
func (c *copied) rebrand(ctx context.Context, change identity, check string, dryRun bool) (err error) {
	if c.from, err = readIdentity(c.root); err != nil {
		return err
	}
	if c.to = c.from.with(change); c.to == c.from {
		return errors.New("nothing to change: give another MODULE=, GROUP=, REGISTRY= or NAME=")
	}
	if err := c.to.validate(); err != nil {
		return err
	}
	dirty, err := worktree.Git(ctx, c.root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if dirty != "" {
		return fmt.Errorf("the tree has uncommitted changes: commit or stash them first\n%s", dirty)
	}
	if c.dir, err = os.MkdirTemp("", "rebrand-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(c.dir) }()
	for _, step := range []struct {
		title string
		work  func(ctx context.Context, update func(string)) error
	}{
		{"Copy the tree", c.copy},
		{"Replace the names", c.replace},
		// In generated files, the names also change an order, a hash or the width of a column.
		{"Write the generated files again", c.run("make generate")},
		{"Build all modules", c.run("go build -o /dev/null ./...", "go -C operator/cmd/snapshot build -o /dev/null ./...",
			"go -C scripts/gitops build -o /dev/null ./...", "go -C test/helm build -o /dev/null ./...")},
		{"Build all overlays", c.run(buildOverlays)},
		{"Look for old names", c.search},
		{check, c.run(check)},
	} {
		if step.title == "" {
			continue
		}
		err := progress.Stage(ctx, step.title, func(update func(string)) error { return step.work(ctx, update) })
		if err != nil {
			return fmt.Errorf("nothing is changed: %w", err)
		}
	}
	return c.adopt(ctx, dryRun)
}

func (c *copied) copy(ctx context.Context, _ func(string)) error {
	return worktree.CopyRepository(ctx, c.root, c.dir)
}

func (c *copied) replace(ctx context.Context, _ func(string)) error {
	files, err := worktree.Files(ctx, c.dir)
	if err != nil {
		return err
	}
	return c.tree(c.dir, files)
}

// run returns a step that runs commands in the copy.
func (c *copied) run(commands ...string) func(context.Context, func(string)) error {
	return func(ctx context.Context, update func(string)) error {
		for _, command := range commands {
			update(command)
			if err := worktree.Run(ctx, c.dir, environment(), "sh", "-c", command); err != nil {
				return err
			}
		}
		return nil
	}
}

// buildOverlays is a shell command that builds all overlays.
const buildOverlays = `for file in overlays/*/kustomization.yaml; do
	go tool -modfile=scripts/tools/go.mod kustomize build "${file%/*}" -o /dev/null || exit; done`

func (c *copied) search(ctx context.Context, _ func(string)) error {
	files, err := worktree.Files(ctx, c.dir)
	if err != nil {
		return err
	}
	found, err := c.leftovers(c.dir, files)
	if err != nil || len(found) == 0 {
		return err
	}
	return fmt.Errorf("old names are left in %d places:\n%s", len(found), strings.Join(found, "\n"))
}

// environment returns the environment without the variables that make passes on. With them, a make that a step runs
// would use the parameters of make rebrand.
func environment() []string {
	return worktree.Environment(
		"MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", "MODULE", "GROUP", "REGISTRY", "NAME", "ARGS")
}

// adopt applies the changes of the copy to the tree. Git applies either all of them or none.
func (c *copied) adopt(ctx context.Context, dryRun bool) error {
	patch := filepath.Join(c.dir, ".git/rebrand.patch")
	err := c.run("git add --all", "git diff --cached --binary --output .git/rebrand.patch")(ctx, func(string) {})
	if err != nil {
		return err
	}
	size, err := worktree.Git(ctx, c.dir, "diff", "--cached", "--shortstat", "--find-renames")
	if err != nil {
		return err
	}
	for i, before := range c.from.names() {
		if now := c.to.names()[i]; now != before {
			fmt.Fprintf(c.out, "%-9s %s -> %s\n", now[0], before[1], now[1])
		}
	}
	if dryRun {
		fmt.Fprintf(c.out, "Would change:%s\n", size)
		return nil
	}
	_, err = worktree.Git(ctx, c.root, "apply", "--index", "--whitespace=nowarn", patch)
	if err != nil {
		return fmt.Errorf("nothing is changed: %w", err)
	}
	fmt.Fprintf(c.out, "Changed and staged:%s\n\n"+
		"Next:\n  git diff --cached --stat   # look at it\n  make test\n  git commit\n"+
		"To undo it: git restore --staged --worktree .\n", size)
	return nil
}
