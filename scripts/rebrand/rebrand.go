package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/rebrand/identity"
	"github.com/example-inc/memcached-operator/scripts/rebrand/rewrite"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

type options struct {
	check  string // a command to run in the copy
	dryRun bool
	out    io.Writer
}

// rebrand changes the tree at root, once a copy of it has the new names and passes all checks.
func rebrand(ctx context.Context, root string, change identity.Identity, o options) error {
	from, err := identity.Read(root)
	if err != nil {
		return err
	}
	to := from.With(change)
	if to == from {
		return errors.New("nothing to change: give another MODULE=, GROUP=, REGISTRY= or NAME=")
	}
	if err := to.Validate(); err != nil {
		return err
	}
	dirty, err := worktree.Git(ctx, root, "status", "--porcelain")
	if err != nil {
		return err
	}
	if dirty != "" {
		return fmt.Errorf("the tree has uncommitted changes: commit or stash them first\n%s", dirty)
	}
	dir, err := os.MkdirTemp("", "rebrand-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c := &copied{dir: dir, from: from, to: to, out: o.out}
	if err := c.make(ctx, root, o.check); err != nil {
		return fmt.Errorf("nothing is changed: %w", err)
	}
	return c.adopt(ctx, root, o.dryRun)
}

// copied is a copy of the tree, which gets the new names.
type copied struct {
	dir      string
	from, to identity.Identity
	out      io.Writer
}

// make takes the copy through all steps, in this order.
func (c *copied) make(ctx context.Context, root, check string) error {
	steps := []struct {
		title string
		work  func(ctx context.Context, update func(string)) error
	}{
		{"Copy the tree", func(ctx context.Context, _ func(string)) error { return c.copy(ctx, root) }},
		{"Replace the names", c.replace},
		{"Generate what is generated", c.generate},
		{"Build all modules and overlays", c.build},
		{"Look for old names", c.search},
		{check, func(ctx context.Context, _ func(string)) error { return c.run(ctx, c.dir, "sh", "-c", check) }},
	}
	for _, step := range steps {
		if step.title == "" {
			continue
		}
		err := progress.Stage(ctx, step.title, func(update func(string)) error { return step.work(ctx, update) })
		if err != nil {
			return err
		}
	}
	return nil
}

// copy commits the copy in a repository of its own, which tells later what has changed.
func (c *copied) copy(ctx context.Context, root string) error {
	if err := worktree.Copy(ctx, root, c.dir); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all", "--force"},
		{"-c", "user.name=rebrand", "-c", "user.email=rebrand@localhost", "-c", "commit.gpgsign=false",
			"commit", "--quiet", "--no-verify", "--message", "before"},
	} {
		if _, err := worktree.Git(ctx, c.dir, args...); err != nil {
			return err
		}
	}
	return nil
}

func (c *copied) replace(ctx context.Context, _ func(string)) error {
	files, err := worktree.Files(ctx, c.dir)
	if err != nil {
		return err
	}
	if err := c.fits(files); err != nil {
		return err
	}
	return rewrite.New(c.from, c.to).Tree(c.dir, files)
}

// fits checks the length of names that begin with the project's: the longest in the tree decides.
func (c *copied) fits(files []string) error {
	longest := c.from.Name
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			return err
		}
		if found := c.from.LongestName(string(content)); len(found) > len(longest) {
			longest = found
		}
	}
	return c.from.Fits(c.to, longest)
}

func (c *copied) search(ctx context.Context, _ func(string)) error {
	files, err := worktree.Files(ctx, c.dir)
	if err != nil {
		return err
	}
	found, err := rewrite.New(c.from, c.to).Leftovers(c.dir, files)
	if err != nil || len(found) == 0 {
		return err
	}
	return fmt.Errorf("old names are left in %d places:\n%s", len(found), strings.Join(found, "\n"))
}

// adopt applies the difference to the tree at root. Git applies all of it or nothing.
func (c *copied) adopt(ctx context.Context, root string, dryRun bool) error {
	if _, err := worktree.Git(ctx, c.dir, "add", "--all"); err != nil {
		return err
	}
	size, err := worktree.Git(ctx, c.dir, "diff", "--cached", "--shortstat", "--find-renames", "HEAD")
	if err != nil {
		return err
	}
	for _, part := range []struct{ name, from, to string }{
		{"MODULE", c.from.Module, c.to.Module}, {"GROUP", c.from.Group, c.to.Group},
		{"REGISTRY", c.from.Registry, c.to.Registry}, {"NAME", c.from.Name, c.to.Name},
	} {
		if part.from == part.to {
			fmt.Fprintf(c.out, "%-9s %s (unchanged)\n", part.name, part.from)
		} else {
			fmt.Fprintf(c.out, "%-9s %s -> %s\n", part.name, part.from, part.to)
		}
	}
	if dryRun {
		fmt.Fprintf(c.out, "Would change:%s", size)
		return nil
	}
	patch := filepath.Join(c.dir, ".git", "rebrand.patch")
	if _, err := worktree.Git(ctx, c.dir, "diff", "--cached", "--binary", "--output", patch, "HEAD"); err != nil {
		return err
	}
	if _, err := worktree.Git(ctx, root, "apply", "--index", "--whitespace=nowarn", patch); err != nil {
		return fmt.Errorf("nothing is changed: %w", err)
	}
	fmt.Fprintf(c.out, "Changed and staged:%s\n"+
		"Next:\n  git diff --cached --stat   # look at it\n  make test\n  git commit\n"+
		"To undo it: git restore --staged --worktree .\n", size)
	return nil
}
