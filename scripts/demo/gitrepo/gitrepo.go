// Package gitrepo works with a Git repository of the user's by the git program, and so with the user's own settings:
// credential helpers, SSH configuration, proxies, other URLs to push to.
package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Refs are what a remote repository has under the name of a branch.
type Refs struct {
	Branch string // commit; empty: there is no such branch
	Tag    bool   // a tag has that name
}

// Find asks a remote repository for a branch. It tells of a repository that can't be read.
func Find(ctx context.Context, url, branch string) (Refs, error) {
	heads, tags := "refs/heads/"+branch, "refs/tags/"+branch
	out, err := run(ctx, "", "ls-remote", "--", url, heads, tags)
	if err != nil {
		return Refs{}, err
	}
	var refs Refs
	for line := range strings.Lines(out) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch ref {
		case heads:
			refs.Branch = commit
		case tags:
			refs.Tag = true
		}
	}
	return refs, nil
}

// ErrLogin says that a repository can't be read without a login.
var ErrLogin = errors.New("it asks for a login")

// ReadableByAll tells whether a repository can be read without any credentials of the user's.
func ReadableByAll(ctx context.Context, url string) error {
	home, err := os.MkdirTemp("", "nobody-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	command := command(ctx, "", "ls-remote", "--", url, "HEAD")
	command.Env = append(command.Env, "HOME="+home, "XDG_CONFIG_HOME="+home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_COUNT=0", "GIT_ASKPASS=", "SSH_ASKPASS=")
	_, err = output(command)
	if err != nil && strings.Contains(err.Error(), "could not read Username") {
		return ErrLogin
	}
	return err
}

// hooks are the variables that git sets for its hooks: they would point every command at the repository of the hook.
var hooks = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_COMMON_DIR",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(hooks, name)
	})
	// A question would be lost among the lines of progress. What git says is read by this package.
	command.Env = append(command.Env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return command
}

func run(ctx context.Context, dir string, args ...string) (string, error) {
	return output(command(ctx, dir, args...))
}

func output(command *exec.Cmd) (string, error) {
	out, err := command.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return "", fmt.Errorf("git %s: %s", subcommand(command.Args), oneLine(string(exit.Stderr)))
	case err != nil:
		return "", fmt.Errorf("git: %w", err)
	}
	return string(out), nil
}

// subcommand is the first argument that is no option, nor an option's value.
func subcommand(args []string) string {
	args = args[1:]
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// oneLine makes one line of what git said of an error, without its hints.
func oneLine(stderr string) string {
	const most = 5
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "hint:") && len(lines) < most {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}
