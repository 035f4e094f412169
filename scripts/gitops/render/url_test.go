package render

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
)

const root = "../../.."

func TestMain(m *testing.M) {
	for _, variable := range os.Environ() { // of a hook: git would take its repository for each of these
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// TestEntriesAreTheSameByTheirURL clones as kustomize build URL and kubectl apply -k URL do, with their default options.
func TestEntriesAreTheSameByTheirURL(t *testing.T) {
	dir := published(t)
	for _, folder := range entries(t) {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			want, err := atPath(filepath.Join(root, folder))
			if err != nil {
				t.Fatal(err)
			}
			got, err := atPath(url(dir, folder))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-folder +URL:\n%s", diff)
			}
		})
	}
}

func TestAnEntryThatCanNotBeBuiltByItsURLIsFound(t *testing.T) {
	dir := published(t)
	tests := map[string]struct{ file, content, want string }{
		"a patch beside the folder": {
			"overlays/amd64/kustomization.yaml",
			"resources: [../../operator/config/crd]\npatches: [{path: ../components/two-replicas/deployment.yaml}]\n",
			"is not in or below",
		},
		"a file that Git does not have": {"overlays/arm64/kustomization.yaml", "resources: [deployment.yaml]\n", "deployment.yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			commit(t, dir, repo.Files{tc.file: []byte(tc.content)})
			_, err := atPath(url(dir, path.Dir(tc.file)))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
}

// entries are the folders that people build by their URL: all but those that need the internet.
func entries(t *testing.T) (folders []string) {
	t.Helper()
	files, err := repo.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files.Kustomizations("overlays"), files.Kustomizations("gitops/bootstrap")...) {
		text := string(files[file])
		if !strings.Contains(text, "kind: Component") && !strings.Contains(text, "https://") {
			folders = append(folders, path.Dir(file))
		}
	}
	for _, want := range []string{
		"overlays/amd64", "overlays/arm64", "overlays/ppc64le", "overlays/s390x", "overlays/multiarch", "overlays/openshift",
		"gitops/bootstrap/direct", "gitops/bootstrap/olm", "gitops/bootstrap/openshift", "gitops/bootstrap/olm-v1",
	} {
		if !slices.Contains(folders, want) {
			t.Errorf("%s is not built", want)
		}
	}
	return folders
}

func atPath(folder string) (string, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return "", err
	}
	text, err := built.AsYaml()
	return string(text), err
}

// published is a repository of what users build: the files that Git has, or would take.
func published(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "--quiet", "--initial-branch="+branch)
	files := repo.Files{}
	listed := git(t, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard",
		"gitops", "overlays", "operator/config")
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // It is removed, and Git will be told.
		}
		if err != nil {
			t.Fatal(err)
		}
		files[name] = content
	}
	commit(t, dir, files)
	return dir
}

const branch = "main"

func url(dir, folder string) string {
	return "file://" + dir + "//" + folder + "?timeout=5m&ref=" + branch
}

func commit(t *testing.T, dir string, files repo.Files) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "--all")
	git(t, dir, "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false",
		"commit", "--quiet", "--message=all")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
