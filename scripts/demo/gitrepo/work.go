package gitrepo

import (
	"context"
	"strings"
)

// Work is a work tree of one branch.
type Work struct {
	Dir    string
	Branch string
	New    bool // the branch is not in the remote repository yet
}

// Clone makes a work tree of a branch in the folder dir. A branch that is not there begins at the default branch, or
// with nothing in a repository that is empty.
func Clone(ctx context.Context, url, branch, dir string) (*Work, error) {
	refs, err := Find(ctx, url, branch)
	if err != nil {
		return nil, err
	}
	w := &Work{Dir: dir, Branch: branch, New: refs.Branch == ""}
	args := []string{"clone", "--quiet", "--depth=1", "--no-tags"}
	if !w.New {
		args = append(args, "--branch="+branch)
	}
	if _, err := run(ctx, "", append(args, "--", url, dir)...); err != nil {
		return nil, err
	}
	if w.New {
		_, err = run(ctx, dir, "checkout", "--quiet", "-B", branch)
	}
	return w, err
}

// Change is a file that a commit would change.
type Change struct {
	Status string // A for added, M for modified, D for deleted
	Path   string
}

// Stage tells what a commit of the given folders would change.
func (w *Work) Stage(ctx context.Context, folders ...string) ([]Change, error) {
	// By force, because what somebody ignores in their own work would be missing in the cluster.
	if _, err := run(ctx, w.Dir, append([]string{"add", "--all", "--force", "--"}, folders...)...); err != nil {
		return nil, err
	}
	out, err := run(ctx, w.Dir, "diff", "--cached", "--name-status", "--no-renames", "-z")
	if err != nil {
		return nil, err
	}
	var changes []Change
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		changes = append(changes, Change{Status: fields[i], Path: fields[i+1]})
	}
	return changes, nil
}

// Message is that of the last commit, or empty where there is none.
func (w *Work) Message(ctx context.Context) string {
	out, err := run(ctx, w.Dir, "log", "-1", "--format=%B")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// Commit commits what is staged. Somebody who has not told git their name commits under that of the demo.
func (w *Work) Commit(ctx context.Context, message string) error {
	args := []string{"commit", "--quiet", "--message", message}
	if _, err := run(ctx, w.Dir, "config", "user.email"); err != nil {
		args = append([]string{"-c", "user.name=demo", "-c", "user.email=demo@memcached-operator.invalid"}, args...)
	}
	_, err := run(ctx, w.Dir, args...)
	return err
}

// Push pushes the branch, never by force.
func (w *Work) Push(ctx context.Context) error {
	_, err := run(ctx, w.Dir, "push", "--quiet", "origin", "HEAD:refs/heads/"+w.Branch)
	return err
}

// Head is the last commit.
func (w *Work) Head(ctx context.Context) (string, error) {
	out, err := run(ctx, w.Dir, "rev-parse", "HEAD")
	return strings.TrimSpace(out), err
}
