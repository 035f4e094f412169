package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repository is a work tree of one branch. It runs the git program, so the user's Git settings apply: credential
// helpers, SSH configuration, proxies, other URLs for pushes.
type Repository struct {
	Dir    string
	Branch string
	New    bool // the branch does not exist in the remote repository
}

// Open opens the work tree in dir, or clones the branch. A new branch starts at the default branch.
func Open(ctx context.Context, url, branch, dir string) (*Repository, error) {
	r := &Repository{Dir: dir, Branch: branch}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		return r, nil
	}
	head, tag := "refs/heads/"+branch, "refs/tags/"+branch
	refs, err := git(ctx, "", "ls-remote", "--", url, head, tag)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: make sure that `git ls-remote %s` works without a prompt for a password (by a "+
			"credential helper or an SSH agent)", err, url)
	case strings.Contains(refs, tag):
		return nil, fmt.Errorf("%s has a tag %s, so no branch of the demo can have that name: "+
			"name another branch by --revision", url, branch)
	}
	r.New = !strings.Contains(refs, head)
	args := []string{"clone", "--quiet", "--depth=1", "--no-tags"}
	if !r.New {
		args = append(args, "--branch="+branch)
	}
	if _, err := git(ctx, filepath.Dir(dir), "config", "user.email"); err != nil { // The user has set no author.
		args = append(args, "--config=user.name=demo", "--config=user.email=demo@memcached-operator.invalid")
	}
	if _, err := git(ctx, "", append(args, "--", url, dir)...); err != nil {
		return nil, err
	}
	if r.New {
		_, err = git(ctx, dir, "checkout", "--quiet", "-B", branch)
	}
	return r, err
}

// Stage returns the files that a commit of the work tree would change. The filter is a filter of git diff
// --diff-filter.
func (r *Repository) Stage(ctx context.Context, filter string) ([]string, error) {
	// Files are added by force. Otherwise, the commit would not have files that the user's Git settings ignore.
	if _, err := git(ctx, r.Dir, "add", "--all", "--force", "."); err != nil {
		return nil, err
	}
	out, err := git(ctx, r.Dir, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter="+filter, "-z")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// Commit changes the work tree, commits and pushes the changes, and returns the commit. It never pushes by force. If
// nothing changed, it returns the last commit.
func (r *Repository) Commit(ctx context.Context, message string, change func(dir string) error) (string, error) {
	if err := change(r.Dir); err != nil {
		return "", err
	}
	changes, err := r.Stage(ctx, "")
	if err != nil {
		return "", err
	}
	if len(changes) > 0 {
		if _, err := git(ctx, r.Dir, "commit", "--quiet", "--message", message); err != nil {
			return "", err
		}
	}
	_, err = git(ctx, r.Dir, "push", "--quiet", "--set-upstream", "origin", "HEAD:refs/heads/"+r.Branch)
	if err != nil {
		return "", fmt.Errorf("%w: you need the right to push to the branch %s; "+
			"if another client pushed in the meantime, run this again", err, r.Branch)
	}
	return r.Head(ctx)
}

// Head returns the hash of the last commit.
func (r *Repository) Head(ctx context.Context) (string, error) {
	return git(ctx, r.Dir, "rev-parse", "HEAD")
}

// Message returns the message of the last commit. It is empty if there is no commit.
func (r *Repository) Message(ctx context.Context) string {
	message, _ := git(ctx, r.Dir, "log", "-1", "--format=%B") // The command fails if there is no commit.
	return message
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0") // users would not see a question between lines of progress
	out, err := command.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return "", fmt.Errorf("git %s: %s", args[0], strings.Join(strings.Fields(string(exit.Stderr)), " "))
	}
	return strings.TrimSpace(string(out)), err
}
