// Package release makes releases for tests, by the command that users run.
package release

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Root returns the root of the repository that contains the test.
func Root(t testing.TB) string {
	t.Helper()
	return strings.TrimSpace(Run(t, ".", nil, "git", "rev-parse", "--show-toplevel"))
}

// Version is newer than any version under which the tree may have been released.
const Version = "10000.2.0"

// Repository commits the working tree, with uncommitted changes, into a new repository in dir. The same tree always
// gets the same commit ID.
func Repository(t testing.TB, dir string) {
	t.Helper()
	if err := worktree.Copy(t.Context(), Root(t), dir); err != nil {
		t.Fatal(err)
	}
	const at = "2026-01-31T13:00:00+01:00"
	Run(t, dir, nil, "git", "init", "--quiet", "--initial-branch=main")
	Run(t, dir, nil, "git", "add", "--all", "--force")
	Run(t, dir, []string{"GIT_COMMITTER_DATE=" + at}, "git", "-c", "user.name=test", "-c", "user.email=test@example.com",
		"-c", "commit.gpgsign=false", "commit", "--quiet", "--date="+at, "--message=release: a commit to release")
}

// Command builds the command release.
func Command(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "release")
	Run(t, Root(t), nil, "go", "build", "-ldflags=-s -w", "-o", path, "./scripts/release")
	return path
}

// Run runs a command in a folder, with further variables of the environment, and returns what it prints.
func Run(t testing.TB, dir string, env []string, command string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir = dir
	cmd.Env = append(worktree.Environment(), env...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return string(out)
}
