package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
)

// bare makes a remote repository whose branch main has a commit of the files.
func bare(t *testing.T, files ...string) (url string) {
	t.Helper()
	dir := t.TempDir()
	tree.Git(t, dir, "init", "--quiet", "--bare", "--initial-branch=main")
	if url = "file://" + dir; len(files) > 0 {
		push(t, url, "main", "another user", files...)
	}
	return url
}

// push commits files to a branch.
func push(t *testing.T, url, branch, message string, files ...string) *Repository {
	t.Helper()
	r, err := Open(t.Context(), url, branch, filepath.Join(t.TempDir(), "clone"))
	if err == nil {
		_, err = r.Commit(t.Context(), message, write(files...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(files ...string) func(dir string) (err error) {
	return func(dir string) (err error) {
		for _, name := range files {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
		}
		return err
	}
}

func TestCommitsArePushedToTheBranch(t *testing.T) {
	tests := map[string]struct {
		branch, main, demo string // the file that each branch has
		wantNew            bool
		want               string // files of the branch afterwards
	}{
		"in an empty repository":               {"demo", "", "", true, "new.lua"},
		"in an empty repository, its HEAD":     {"main", "", "", true, "new.lua"},
		"a new one, on top of the default one": {"demo", "a", "", true, "a\nnew.lua"},
		"one that exists":                      {"demo", "a", "b", false, "a\nb\nnew.lua"},
		"where HEAD names no branch":           {"new", "", "b", true, "new.lua"},
	}
	// The user's Git settings ignore the file.
	ignores := filepath.Join(t.TempDir(), "ignores")
	if err := os.WriteFile(ignores, []byte("*.lua\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
	t.Setenv("GIT_CONFIG_VALUE_0", ignores)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url := bare(t)
			for _, it := range [][2]string{{"main", tc.main}, {"demo", tc.demo}} {
				if it[1] != "" {
					push(t, url, it[0], "another user", it[1])
				}
			}
			r := push(t, url, tc.branch, "by us", "new.lua")
			if r.New != tc.wantNew || r.Message(t.Context()) != "by us" {
				t.Errorf("New is %t, the message %q", r.New, r.Message(t.Context()))
			}
			got := tree.Git(t, strings.TrimPrefix(url, "file://"), "ls-tree", "-r", "--name-only", tc.branch)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files of the branch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPushNeverForces(t *testing.T) {
	url := bare(t, "a")
	r := push(t, url, "main", "by us", "b")
	push(t, url, "main", "another user", "c")
	_, err := r.Commit(t.Context(), "by us", write("d"))
	if err == nil || !strings.Contains(err.Error(), "right to push to the branch main") {
		t.Errorf("error %v", err)
	}
	if message := tree.Git(t, strings.TrimPrefix(url, "file://"), "log", "-1", "--format=%s", "main"); message != "another user" {
		t.Errorf("the last commit is %q", message)
	}
}

func TestABranchWithTheNameOfATagIsRefused(t *testing.T) {
	url := bare(t, "a")
	tree.Git(t, strings.TrimPrefix(url, "file://"), "tag", "v1", "main")
	_, err := Open(t.Context(), url, "v1", filepath.Join(t.TempDir(), "clone"))
	if err == nil || !strings.Contains(err.Error(), "tag v1, so no branch of the demo can have that name: name another branch by --revision") {
		t.Errorf("error %v", err)
	}
}
