package gitrepo

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// git runs git as nobody in particular, in a folder.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// bare makes a repository, with a commit of some files on main unless there are none.
func bare(t *testing.T, files ...string) (url string) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "--quiet", "--bare", "--initial-branch=main")
	url = "file://" + dir
	if len(files) > 0 {
		push(t, url, "main", files...)
	}
	return url
}

// push commits files to a branch, as somebody else does.
func push(t *testing.T, url, branch string, files ...string) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "clone", "--quiet", url, ".")
	git(t, dir, "checkout", "--quiet", "-B", branch)
	write(t, dir, files...)
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--message=by somebody else")
	git(t, dir, "push", "--quiet", "origin", branch)
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindTellsBranchesFromTags(t *testing.T) {
	url := bare(t, "a")
	dir := strings.TrimPrefix(url, "file://")
	git(t, dir, "tag", "v1", "main")
	main := git(t, dir, "rev-parse", "main")
	tests := map[string]struct {
		name string
		want Refs
	}{
		"a branch":        {"main", Refs{Branch: main}},
		"a tag":           {"v1", Refs{Tag: true}},
		"neither of both": {"new", Refs{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Find(t.Context(), url, tc.name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestARepositoryThatIsNotThereIsToldByGitsOwnWords(t *testing.T) {
	_, err := Find(t.Context(), "file:///nowhere/at/all", "main")
	if err == nil || !strings.Contains(err.Error(), "git ls-remote") || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Errorf("error %v", err)
	}
}

func TestABranchIsMade(t *testing.T) {
	tests := map[string]struct {
		url     func(t *testing.T) string
		branch  string
		wantNew bool
		want    []string // files of the branch afterwards
	}{
		"in a repository that is empty": {func(t *testing.T) string { return bare(t) }, "demo", true, []string{"gitops/new"}},
		"in one that is empty, by the name that its HEAD has": {func(t *testing.T) string { return bare(t) }, "main", true,
			[]string{"gitops/new"}},
		"on top of the default branch": {func(t *testing.T) string { return bare(t, "a") }, "demo", true,
			[]string{"a", "gitops/new"}},
		"on top of itself, if it is there": {func(t *testing.T) string {
			url := bare(t, "a")
			push(t, url, "demo", "b")
			return url
		}, "demo", false, []string{"a", "b", "gitops/new"}},
		"in a repository whose HEAD names no branch": {func(t *testing.T) string {
			url := bare(t)
			push(t, url, "other", "b")
			return url
		}, "demo", true, []string{"gitops/new"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url := tc.url(t)
			dir := filepath.Join(t.TempDir(), "clone")
			w, err := Clone(t.Context(), url, tc.branch, dir)
			if err != nil {
				t.Fatal(err)
			}
			if w.New != tc.wantNew {
				t.Errorf("New is %t", w.New)
			}
			write(t, dir, "gitops/new")
			changes, err := w.Stage(t.Context(), "gitops")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Change{{"A", "gitops/new"}}, changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if err := errors.Join(w.Commit(t.Context(), "by us"), w.Push(t.Context())); err != nil {
				t.Fatal(err)
			}
			there := strings.TrimPrefix(url, "file://")
			got := strings.Fields(git(t, there, "ls-tree", "-r", "--name-only", tc.branch))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files of the branch (-want +got):\n%s", diff)
			}
			head, err := w.Head(t.Context())
			if pushed := git(t, there, "rev-parse", tc.branch); err != nil || pushed != head {
				t.Errorf("pushed is %s, Head is %s, %v", pushed, head, err)
			}
			if message := w.Message(t.Context()); message != "by us" {
				t.Errorf("message %q", message)
			}
		})
	}
}

func TestAPushNeverForces(t *testing.T) {
	url := bare(t, "a")
	dir := filepath.Join(t.TempDir(), "clone")
	w, err := Clone(t.Context(), url, "main", dir)
	if err != nil {
		t.Fatal(err)
	}
	push(t, url, "main", "b")
	write(t, dir, "gitops/new")
	if _, err := w.Stage(t.Context(), "gitops"); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context(), "by us"); err != nil {
		t.Fatal(err)
	}
	if err := w.Push(t.Context()); err == nil {
		t.Fatal("it pushed over somebody else's commit")
	}
	if message := git(t, strings.TrimPrefix(url, "file://"), "log", "-1", "--format=%s", "main"); message != "by somebody else" {
		t.Errorf("the last commit is %q", message)
	}
}

func TestStageTellsOfEveryChangeAlsoOfWhatTheUserIgnores(t *testing.T) {
	ignores := filepath.Join(t.TempDir(), "ignores")
	write(t, filepath.Dir(ignores), "x")
	if err := os.WriteFile(ignores, []byte("*.lua\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
	t.Setenv("GIT_CONFIG_VALUE_0", ignores)
	url := bare(t, "gitops/changed", "gitops/gone", "outside")
	dir := filepath.Join(t.TempDir(), "clone")
	w, err := Clone(t.Context(), url, "main", dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "gitops/changed"), []byte("else"), 0o644),
		os.Remove(filepath.Join(dir, "gitops/gone")),
		os.WriteFile(filepath.Join(dir, "gitops/ignored.lua"), []byte("x"), 0o644),
		os.WriteFile(filepath.Join(dir, "outside"), []byte("else"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	got, err := w.Stage(t.Context(), "gitops")
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{{"M", "gitops/changed"}, {"D", "gitops/gone"}, {"A", "gitops/ignored.lua"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatGitSetsForItsHooksDoesNotLeadAstray(t *testing.T) {
	url := bare(t, "a")
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_WORK_TREE", "/nowhere")
	if _, err := Clone(t.Context(), url, "demo", filepath.Join(t.TempDir(), "clone")); err != nil {
		t.Error(err)
	}
}

func TestReadableByAll(t *testing.T) {
	asks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "secret" {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = w.Write([]byte("001e# service=git-upload-pack\n00000000"))
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer asks.Close()
	// A user whose own login works must not hide that others have none.
	for name, config := range map[string]string{
		"by a helper": "[credential]\n\thelper = \"!f() { echo username=me; echo password=secret; }; f\"\n",
		"by a header": "[http]\n\textraHeader = Authorization: Basic bWU6c2VjcmV0\n",
	} {
		t.Run("the user has a login "+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gitconfig")
			if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GIT_CONFIG_GLOBAL", path)
			t.Setenv("GIT_CONFIG_COUNT", "1")
			t.Setenv("GIT_CONFIG_KEY_0", "include.path")
			t.Setenv("GIT_CONFIG_VALUE_0", path)
			if _, err := Find(t.Context(), asks.URL+"/x.git", "main"); err != nil {
				t.Errorf("the user's own login does not work: %v", err)
			}
			if err := ReadableByAll(t.Context(), asks.URL+"/x.git"); !errors.Is(err, ErrLogin) {
				t.Errorf("others read it, too: %v", err)
			}
		})
	}
	if err := ReadableByAll(t.Context(), bare(t, "a")); err != nil {
		t.Errorf("a repository without one: %v", err)
	}
	if err := ReadableByAll(t.Context(), "http://127.0.0.1:1/x.git"); err == nil || errors.Is(err, ErrLogin) {
		t.Errorf("a repository that does not answer: %v", err)
	}
}
