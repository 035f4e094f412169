package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// staleFiles runs the generators in a copy of the tree, and returns what they changed.
func staleFiles(ctx context.Context, root string, files, generators []string) ([]string, error) {
	dir, err := os.MkdirTemp("", "verify-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := worktree.CopyFiles(root, dir, files); err != nil {
		return nil, err
	}
	// The copy gets an index of its own, so that git reports the changes of the generators.
	if _, err := worktree.Git(ctx, dir, "init", "--quiet"); err != nil {
		return nil, err
	}
	if _, err := worktree.Git(ctx, dir, "add", "--all", "--force"); err != nil {
		return nil, err
	}
	for _, generator := range generators {
		if err := generate(ctx, dir, generator); err != nil {
			return nil, err
		}
	}
	return changes(ctx, dir, generators)
}

func generate(ctx context.Context, dir, generator string) error {
	words := strings.Fields(generator)
	if len(words) == 0 {
		return fmt.Errorf("--generate %q: no command is named", generator)
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir = dir
	command.Env = worktree.Environment()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", generator, err, out)
	}
	return nil
}

// changes describes each file that differs from the index.
func changes(ctx context.Context, dir string, generators []string) ([]string, error) {
	// git reports a new file once it intends to add it. --no-all keeps deleted files in the index.
	if _, err := worktree.Git(ctx, dir, "add", "--no-all", "--intent-to-add", "."); err != nil {
		return nil, err
	}
	names, err := worktree.List(ctx, dir, "diff", "--name-only")
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, name := range names {
		diff, err := worktree.Git(ctx, dir, "diff", "--no-color", "--unified=1", "--", name)
		if err != nil {
			return nil, err
		}
		problems = append(problems, fmt.Sprintf("%s: not up to date, run: %s\n%s",
			name, strings.Join(generators, " && "), beginning(diff, 20)))
	}
	return problems, nil
}

// beginning returns the first lines of a text.
func beginning(text string, lines int) string {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(all) <= lines {
		return strings.Join(all, "\n")
	}
	return fmt.Sprintf("%s\n(%d more lines)", strings.Join(all[:lines], "\n"), len(all)-lines)
}
