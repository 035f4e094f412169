package overlays

import (
	"errors"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// TestAConsumerNeedsNoClone: a kustomization names a tag of the repository by URL, and the images by
// `kustomize edit set image`. Git's own server is the remote, and the pinned kustomize the consumer's.
func TestAConsumerNeedsNoClone(t *testing.T) {
	const tag = "v0.1.0"
	kustomize := pinned(t)
	remote := serve(t, tag)
	images := defaults(t)
	for _, overlay := range all(t) {
		t.Run(overlay, func(t *testing.T) {
			dir := tempDir(t)
			writeFile(t, filepath.Join(dir, "kustomization.yaml"), "resources:\n  - "+remote+"//"+overlay+"?ref="+tag+"\n")
			for _, i := range images {
				run(t, dir, kustomize, "edit", "set", "image", i.name+"="+i.newName+":"+i.newTag)
			}
			want := replaced(run(t, root, kustomize, "build", overlay), images)
			if diff := cmp.Diff(want, run(t, dir, kustomize, "build", ".")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheBootstrapNeedsNoClone: the folders of gitops/ that users apply build by their URL, too.
func TestTheBootstrapNeedsNoClone(t *testing.T) {
	const tag = "v0.1.0"
	kustomize := pinned(t)
	remote := serve(t, tag)
	for _, folder := range []string{
		"bootstrap/direct", "bootstrap/olm", "bootstrap/openshift", "bootstrap/olm-v1", "bootstrap/argocd/existing",
		"bootstrap/argocd/openshift", "bootstrap/argocd/instance", "fleet",
	} {
		folder = "gitops/" + folder
		want := run(t, root, kustomize, "build", folder)
		if diff := cmp.Diff(want, run(t, t.TempDir(), kustomize, "build", remote+"//"+folder+"?ref="+tag)); diff != "" {
			t.Errorf("%s (-folder +URL):\n%s", folder, diff)
		}
	}
}

// TestAnOverlayIsEditedInPlace: as in a clone, and by Argo CD for an Application that names images.
func TestAnOverlayIsEditedInPlace(t *testing.T) {
	kustomize := pinned(t)
	tree := copied(t)
	images := defaults(t)
	for _, overlay := range all(t) {
		dir := filepath.Join(tree, overlay)
		for _, i := range images {
			run(t, dir, kustomize, "edit", "set", "image", i.name+"="+i.newName+":"+i.newTag)
		}
		want := replaced(run(t, root, kustomize, "build", overlay), images)
		if diff := cmp.Diff(want, run(t, dir, kustomize, "build", ".")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", overlay, diff)
		}
	}
}

// TestArgoCDAddsAComponent: the Application of the operator names an overlay, and a component of the tree.
func TestArgoCDAddsAComponent(t *testing.T) {
	const component = "gitops/operator/direct"
	kustomize, tree := pinned(t), copied(t)
	for _, overlay := range all(t) {
		writeFile(t, filepath.Join(tree, "kustomization.yaml"), "resources: ["+overlay+"]\ncomponents: ["+component+"]\n")
		want := run(t, tree, kustomize, "build", ".")
		dir := filepath.Join(tree, overlay)
		run(t, dir, kustomize, "edit", "add", "component", "../../"+component)
		if diff := cmp.Diff(want, run(t, dir, kustomize, "build", ".")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", overlay, diff)
		}
	}
}

// pinned is the path of the kustomize that scripts/tools has.
func pinned(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, root, "go", "tool", "-modfile=scripts/tools/go.mod", "-n", "kustomize"))
}

// serve serves the manifests of the working tree from a Git repository, and returns its URL.
func serve(t *testing.T, tag string) string {
	t.Helper()
	tree, served := copied(t), t.TempDir()
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "A release"},
		{"tag", tag},
		{"clone", "--quiet", "--bare", ".", filepath.Join(served, "memcached-operator.git")},
	} {
		run(t, tree, "git", args...)
	}
	programs := strings.TrimSpace(run(t, tree, "git", "--exec-path"))
	server := httptest.NewServer(&cgi.Handler{
		Path:   filepath.Join(programs, "git-http-backend"),
		Stderr: t.Output(), // Before anything else, kustomize requests a file of that URL.
		Env:    []string{"GIT_PROJECT_ROOT=" + served, "GIT_HTTP_EXPORT_ALL=1"},
	})
	t.Cleanup(server.Close)
	return server.URL + "/memcached-operator.git"
}

// copied is a copy of all that overlays and gitops/ are made of.
func copied(t *testing.T) string {
	t.Helper()
	tree := tempDir(t)
	for _, folder := range []string{"overlays", "operator/config", "gitops"} {
		if err := os.CopyFS(filepath.Join(tree, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = dir
	command.Env = append(worktree.Environment(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, stderrOf(err))
	}
	return string(out)
}

func stderrOf(err error) string {
	if exit, isExit := errors.AsType[*exec.ExitError](err); isExit {
		return string(exit.Stderr)
	}
	return ""
}
