package cut

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// repository commits the working tree into a repository of its own, with a release before, and one commit since.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	const tree = "../../.."
	files, err := worktree.Files(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	needed := regexp.MustCompile(`^(Makefile|go\.mod|go\.sum|(operator|overlays|gitops|bundle|test/crd/released)/.*|docs/install.md)$`)
	unneeded := func(file string) bool { return !needed.MatchString(file) || strings.HasSuffix(file, "_test.go") }
	if err := worktree.CopyFiles(tree, root, slices.DeleteFunc(files, unneeded)); err != nil {
		t.Fatal(err)
	}
	operator, err := operatorImage.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, root, page, "Since 0.0.1.\nVERSION=0.0.1\n"+repositoryOf(operator)+"\nnewName: r.io/memcached-operator\nnewTag: 0.0.1\n")
	git(t, root, "init", "--quiet")
	commit(t, root, "Everything before")
	git(t, root, "tag", "v0.0.1")
	writeFile(t, root, "one", "")
	commit(t, root, "one: a change")
	return root
}

func prepare(t *testing.T, r *Release, dryRun bool) string {
	t.Helper()
	var out strings.Builder
	if err := r.Prepare(t.Context(), dryRun, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func writeTo(t *testing.T, r *Release) *Tree {
	t.Helper()
	tree, err := r.WriteTo(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func commit(t *testing.T, root, subject string) {
	t.Helper()
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-31T13:00:00+01:00")
	git(t, root, "add", "--all")
	git(t, root, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--allow-empty", "--message", subject)
}

// reset undoes what a case did after the last tag.
func reset(t *testing.T, root string) {
	t.Helper()
	git(t, root, "reset", "--quiet", "--hard", "v"+version)
	git(t, root, "clean", "--quiet", "-d", "--force")
	commit(t, root, "one more change")
}

func git(t *testing.T, root string, args ...string) string {
	t.Helper()
	out, err := worktree.Git(t.Context(), root, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// snapshot is a tree's content, without Git's own.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(name, ".git/") {
			files[name] = read(t, root, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func writeFile(t *testing.T, root, name, content string) {
	t.Helper()
	if err := worktree.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
