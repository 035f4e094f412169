package pipeline

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bare makes a remote repository, with a commit of the files on main.
func bare(t *testing.T, files ...string) (url string) {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "init", "--quiet", "--bare", "--initial-branch=main")
	if url = "file://" + dir; len(files) > 0 {
		push(t, url, "main", files...)
	}
	return url
}

// push commits files to a branch, as another user.
func push(t *testing.T, url, branch string, files ...string) {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "clone", "--quiet", url, ".")
	run(t, dir, "checkout", "--quiet", "-B", branch)
	write(t, dir, files...)
	run(t, dir, "add", "--all")
	run(t, dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--message=another user")
	run(t, dir, "push", "--quiet", "origin", branch)
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommitsArePushedToTheBranch(t *testing.T) {
	tests := map[string]struct {
		branch  string
		files   []string // on main
		other   string   // a file on the branch demo
		wantNew bool
		want    []string // files of the branch afterwards
	}{
		"in an empty repository":               {"demo", nil, "", true, []string{"gitops/new.lua"}},
		"in an empty repository, its HEAD":     {"main", nil, "", true, []string{"gitops/new.lua"}},
		"a new one, on top of the default one": {"demo", []string{"a"}, "", true, []string{"a", "gitops/new.lua"}},
		"one that exists":                      {"demo", []string{"a"}, "b", false, []string{"a", "b", "gitops/new.lua"}},
		"where HEAD names no branch":           {"new", nil, "b", true, []string{"gitops/new.lua"}},
	}
	// The user's own git ignores the file.
	ignores := filepath.Join(t.TempDir(), "ignores")
	if err := os.WriteFile(ignores, []byte("*.lua\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
	t.Setenv("GIT_CONFIG_VALUE_0", ignores)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url, dir := bare(t, tc.files...), filepath.Join(t.TempDir(), "clone")
			if tc.other != "" {
				push(t, url, "demo", tc.other)
			}
			r, err := Open(t.Context(), url, tc.branch, dir)
			if err != nil {
				t.Fatal(err)
			}
			if r.New != tc.wantNew {
				t.Errorf("New is %t", r.New)
			}
			head, err := r.Commit(t.Context(), "by us", func(dir string) error {
				write(t, dir, "gitops/new.lua")
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			there := strings.TrimPrefix(url, "file://")
			got := strings.Fields(run(t, there, "ls-tree", "-r", "--name-only", tc.branch))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files of the branch (-want +got):\n%s", diff)
			}
			if pushed := run(t, there, "rev-parse", tc.branch); pushed != head {
				t.Errorf("pushed is %s, Head is %s", pushed, head)
			}
			if message := r.Message(t.Context()); message != "by us" {
				t.Errorf("message %q", message)
			}
		})
	}
}

func TestAPushNeverForces(t *testing.T) {
	url := bare(t, "a")
	r, err := Open(t.Context(), url, "main", filepath.Join(t.TempDir(), "clone"))
	if err != nil {
		t.Fatal(err)
	}
	push(t, url, "main", "b")
	_, err = r.Commit(t.Context(), "by us", func(dir string) error { write(t, dir, "c"); return nil })
	if err == nil || !strings.Contains(err.Error(), "right to push to the branch main") {
		t.Errorf("error %v", err)
	}
	if message := run(t, strings.TrimPrefix(url, "file://"), "log", "-1", "--format=%s", "main"); message != "another user" {
		t.Errorf("the last commit is %q", message)
	}
}

func TestOpenNamesTheProblem(t *testing.T) {
	url := bare(t, "a")
	run(t, strings.TrimPrefix(url, "file://"), "tag", "v1", "main")
	for name, tc := range map[string]struct{ url, branch, want string }{
		"no repository":               {"file:///nowhere/at/all", "main", "git ls-remote file:///nowhere/at/all"},
		"a tag has the branch's name": {url, "v1", "tag v1: name another branch by --revision"},
	} {
		_, err := Open(t.Context(), tc.url, tc.branch, filepath.Join(t.TempDir(), "clone"))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestARepositoryIsReadWithoutTheUsersLogin(t *testing.T) {
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, _, _ := r.BasicAuth(); user != "me" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = w.Write([]byte("001e# service=git-upload-pack\n00000000"))
	}))
	defer private.Close()
	config := filepath.Join(t.TempDir(), "gitconfig")
	login := "[credential]\n\thelper = \"!f() { echo username=me; echo password=secret; }; f\"\n"
	if err := os.WriteFile(config, []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "include.path")
	t.Setenv("GIT_CONFIG_VALUE_0", config)
	run(t, "", "ls-remote", private.URL+"/x.git") // The user's login works.
	if err := Anonymous(t.Context(), private.URL+"/x.git"); !errors.Is(err, ErrLogin) {
		t.Errorf("without it: %v", err)
	}
	if err := Anonymous(t.Context(), bare(t, "a")); err != nil {
		t.Errorf("a public repository: %v", err)
	}
	if err := Anonymous(t.Context(), "http://127.0.0.1:1/x.git"); err == nil || errors.Is(err, ErrLogin) {
		t.Errorf("a repository that does not answer: %v", err)
	}
}
