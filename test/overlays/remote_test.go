package overlays

import (
	"bytes"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// TestAConsumerSetsEachImageOfEveryOverlay sets images by `kustomize edit set image`, which must change each place of
// an image, and nothing else. It does so in two ways. Without a clone, a kustomization refers to a tag of the
// repository by URL, and Git's own server serves the repository. In a clone, as Argo CD does for an Application that
// names images, it edits the overlay itself.
func TestAConsumerSetsEachImageOfEveryOverlay(t *testing.T) {
	const tag = "v0.1.0"
	kustomize, remote, clone, images := pinned(t), serve(t, tag), copied(t), defaults(t)
	for _, overlay := range all(t) {
		t.Run(overlay, func(t *testing.T) {
			before, alone := run(t, root, kustomize, "build", overlay), tempDir(t)
			tree.Write(t, alone, map[string]string{
				"kustomization.yaml": "resources:\n  - " + remote + "//" + overlay + "?ref=" + tag + "\n",
			})
			for _, i := range images {
				if !strings.Contains(before, ": "+i.ref+"\n") {
					t.Errorf("%s is not in it", i.ref)
				}
				for _, dir := range []string{alone, filepath.Join(clone, overlay)} {
					run(t, dir, kustomize, "edit", "set", "image", i.name+"="+i.newName+":"+i.newTag)
				}
			}
			for _, dir := range []string{alone, filepath.Join(clone, overlay)} {
				if diff := cmp.Diff(replaced(before, images), run(t, dir, kustomize, "build", ".")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", dir, diff)
				}
			}
		})
	}
}

// TestTheBootstrapNeedsNoClone: the folders of gitops/ that users apply can also be built by their URL.
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

// TestArgoCDAddsAComponent: the operator's Application may name an overlay, and a component of the tree that Argo CD
// adds to it.
func TestArgoCDAddsAComponent(t *testing.T) {
	const component = "gitops/operator/direct"
	kustomize, clone := pinned(t), copied(t)
	for _, overlay := range all(t) {
		tree.Write(t, clone, map[string]string{
			"kustomization.yaml": "resources: [" + overlay + "]\ncomponents: [" + component + "]\n",
		})
		want := run(t, clone, kustomize, "build", ".")
		dir := filepath.Join(clone, overlay)
		run(t, dir, kustomize, "edit", "add", "component", "../../"+component)
		if diff := cmp.Diff(want, run(t, dir, kustomize, "build", ".")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", overlay, diff)
		}
	}
}

// pinned returns the path of the kustomize program in the version of scripts/tools.
func pinned(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, root, "go", "tool", "-modfile=scripts/tools/go.mod", "-n", "kustomize"))
}

// serve serves the manifests of the working tree from a Git repository, and returns its URL.
func serve(t *testing.T, tag string) string {
	t.Helper()
	clone, served := copied(t), t.TempDir()
	tree.Git(t, clone, "init", "--quiet")
	tree.Git(t, clone, "add", "--all")
	tree.Git(t, clone, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", tag)
	tree.Git(t, clone, "tag", tag)
	tree.Git(t, clone, "clone", "--quiet", "--bare", ".", filepath.Join(served, "memcached-operator.git"))
	programs := tree.Git(t, clone, "--exec-path")
	server := httptest.NewServer(&cgi.Handler{
		Path:   filepath.Join(programs, "git-http-backend"),
		Stderr: t.Output(), // kustomize first requests a file with this URL, which fails.
		Env:    []string{"GIT_PROJECT_ROOT=" + served, "GIT_HTTP_EXPORT_ALL=1"},
	})
	t.Cleanup(server.Close)
	return server.URL + "/memcached-operator.git"
}

// copied makes a copy of all files that overlays/ and gitops/ use.
func copied(t *testing.T) string {
	t.Helper()
	return tree.Copy(t, root, "overlays", "operator/config", "gitops")
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	var stderr bytes.Buffer
	command.Dir, command.Stderr = dir, &stderr
	command.Env = append(worktree.Environment(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, &stderr)
	}
	return string(out)
}
