package cut

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// repository commits the working tree into a new repository, which has an earlier release, and one commit after it. It
// returns the repository's folder.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	const repository = "../../.."
	files, err := worktree.Files(t.Context(), repository)
	if err != nil {
		t.Fatal(err)
	}
	needed := regexp.MustCompile(`^(Makefile|Dockerfile|go\.mod|go\.sum|scripts/cluster/builds/.*go\.mod|(operator|overlays|gitops|bundle|test/crd/released)/.*|docs/install.md)$`)
	unneeded := func(file string) bool { return !needed.MatchString(file) || strings.HasSuffix(file, "_test.go") }
	if err := worktree.CopyFiles(repository, root, slices.DeleteFunc(files, unneeded)); err != nil {
		t.Fatal(err)
	}
	operator, err := programImages[0].Read(root)
	if err != nil {
		t.Fatal(err)
	}
	tree.Write(t, root, map[string]string{page: "Since 0.0.1.\nVERSION=0.0.1\n" + bundle.RepositoryOf(operator) + "\nnewName: r.io/memcached-operator\nnewTag: 0.0.1\n"})
	tree.Git(t, root, "init", "--quiet")
	commit(t, root, "Everything before")
	tree.Git(t, root, "tag", "v0.0.1")
	tree.Write(t, root, map[string]string{"one": ""})
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
	written, err := r.WriteTo(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return written
}

func commit(t *testing.T, root, subject string) {
	t.Helper()
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-31T13:00:00+01:00")
	tree.Git(t, root, "add", "--all")
	tree.Git(t, root, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--allow-empty", "--message", subject)
}

// reset undoes all changes that a case made after the last tag.
func reset(t *testing.T, root string) {
	t.Helper()
	tree.Git(t, root, "reset", "--quiet", "--hard", "v"+version)
	tree.Git(t, root, "clean", "--quiet", "-d", "--force")
	commit(t, root, "one more change")
}
