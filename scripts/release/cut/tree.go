package cut

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// tracked names the files of the commit.
func tracked(ctx context.Context, root string) ([]string, error) {
	out, err := worktree.Git(ctx, root, "ls-files", "-z")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// commitTime is when the commit was made that is released: the same for each who makes the release.
func commitTime(ctx context.Context, root string) (string, error) {
	out, err := worktree.Git(ctx, root, "log", "-1", "--format=%cI")
	if err != nil {
		return "", err
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(out))
	return at.UTC().Format(time.RFC3339), err
}

// history tells the last release, if there is one, and what was committed since.
func history(ctx context.Context, root string) (lastTag string, subjects []string, err error) {
	described, err := worktree.Git(ctx, root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
	span := "HEAD"
	if err == nil { // It fails where no tag is.
		lastTag = strings.TrimSpace(described)
		span = lastTag + "..HEAD"
	}
	out, err := worktree.Git(ctx, root, "log", "--no-merges", "--format=%s", span)
	for subject := range strings.Lines(out) {
		subjects = append(subjects, strings.TrimSpace(subject))
	}
	return lastTag, subjects, err
}

// walk visits each file of a folder, by its name from there, in order.
func walk(dir string, visit func(name string, content []byte) error) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		return visit(name, content)
	})
}
