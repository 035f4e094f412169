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

// history is what Git knows of the commit that is released.
type history struct {
	commit   string
	time     string // of the commit: the same for everybody who makes the release
	lastTag  string // of the release before this one; empty: there is none
	subjects []string
}

// readHistory reads what was committed since the last release. The tag of the release itself may be there already.
func readHistory(ctx context.Context, root, version string) (h history, err error) {
	out, err := worktree.Git(ctx, root, "log", "-1", "--format=%H %cI")
	if err != nil {
		return h, err
	}
	commit, committed, _ := strings.Cut(strings.TrimSpace(out), " ")
	at, err := time.Parse(time.RFC3339, committed)
	if err != nil {
		return h, err
	}
	h.commit, h.time = commit, at.UTC().Format(time.RFC3339)
	described, err := worktree.Git(ctx, root,
		"describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "--exclude", "v"+version)
	span := "HEAD"
	if err == nil { // It fails where no tag is.
		h.lastTag = strings.TrimSpace(described)
		span = h.lastTag + "..HEAD"
	}
	out, err = worktree.Git(ctx, root, "log", "--no-merges", "--format=%s", span)
	for subject := range strings.Lines(out) {
		h.subjects = append(h.subjects, strings.TrimSpace(subject))
	}
	return h, err
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
