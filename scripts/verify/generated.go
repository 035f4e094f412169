package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// maxDiff is how many lines of a difference are shown.
const maxDiff = 60

// generatedChanges runs the generator in a copy of the tree, and returns the beginning of what it changed, as a diff.
func generatedChanges(ctx context.Context, root, generator string) (string, error) {
	dir, err := os.MkdirTemp("", "verify-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := worktree.CopyRepository(ctx, root, dir); err != nil {
		return "", err
	}
	if err := worktree.Run(ctx, dir, worktree.Environment(), "sh", "-c", generator); err != nil {
		return "", err
	}
	if _, err := worktree.Git(ctx, dir, "add", "--all"); err != nil {
		return "", err
	}
	diff, err := worktree.Git(ctx, dir, "diff", "--cached", "--no-color", "--unified=1")
	lines := strings.SplitAfter(diff, "\n")
	if more := len(lines) - maxDiff; more > 0 {
		lines = append(lines[:maxDiff], fmt.Sprintf("(%d more lines)", more))
	}
	return strings.TrimSpace(strings.Join(lines, "")), err
}
