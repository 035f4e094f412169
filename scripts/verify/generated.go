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

// generatedChanges runs the generator in a copy of the files, and returns the beginning of what it changed, as a diff.
func generatedChanges(ctx context.Context, root string, files []string, generator string) (string, error) {
	dir, err := os.MkdirTemp("", "verify-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := worktree.CopyFiles(root, dir, files); err != nil {
		return "", err
	}
	git := func(args ...string) (out string) {
		if err == nil {
			out, err = worktree.Git(ctx, dir, args...)
		}
		return out
	}
	// The copy gets an index of its own, so that git reports the changes of the generator.
	git("init", "--quiet")
	git("add", "--all", "--force")
	if err != nil {
		return "", err
	}
	if err := worktree.Run(ctx, dir, worktree.Environment(), "sh", "-c", generator); err != nil {
		return "", err
	}
	// git reports a new file once it intends to add it. --no-all keeps deleted files in the index.
	git("add", "--no-all", "--intent-to-add", ".")
	lines := strings.SplitAfter(git("diff", "--no-color", "--unified=1"), "\n")
	if more := len(lines) - maxDiff; more > 0 {
		lines = append(lines[:maxDiff], fmt.Sprintf("(%d more lines)", more))
	}
	return strings.TrimSpace(strings.Join(lines, "")), err
}
