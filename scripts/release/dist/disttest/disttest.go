// Package disttest makes releases for tests: of a repository that holds the working tree as its only commit, by the
// command that users run.
package disttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Root is the root of the repository that the test is a part of.
func Root(t testing.TB) string {
	t.Helper()
	out, err := worktree.Git(t.Context(), ".", "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Version is newer than any that the tree may have been released as: also than that of a test in which it is.
const Version = "10000.2.0"

// Repository commits the working tree, with what is in no commit yet, into a new repository in dir. The commit is the
// same each time.
func Repository(t testing.TB, dir string) {
	t.Helper()
	if err := worktree.Copy(t.Context(), Root(t), dir); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "--all", "--force"},
		{
			"-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false",
			"commit", "--quiet", "--date=2026-01-31T13:00:00+01:00", "--message=release: a commit to release",
		},
	} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = dir
		git.Env = append(worktree.Environment(), "GIT_COMMITTER_DATE=2026-01-31T13:00:00+01:00")
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", git, err, out)
		}
	}
}

// Command builds the command release.
func Command(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "release")
	Run(t, Root(t), nil, "go", "build", "-o", path, "./scripts/release")
	return path
}

// Run runs the command in a folder, with further variables of the environment, and returns what it prints.
func Run(t testing.TB, dir string, env []string, command string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	return stdout.String()
}

// GoPaths are Go's own folders, for a run with another home.
func GoPaths(t testing.TB) (env []string) {
	t.Helper()
	for name := range strings.FieldsSeq("GOCACHE GOMODCACHE GOPROXY GOSUMDB GOTOOLCHAIN") {
		value := strings.TrimSpace(Run(t, ".", nil, "go", "env", name))
		env = append(env, name+"="+value)
	}
	return env
}
