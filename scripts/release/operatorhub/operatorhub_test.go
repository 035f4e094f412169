package operatorhub_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/operatorhub"
)

const root = "../../.."

func TestTheFolderHoldsTheBundleAndCI(t *testing.T) {
	out := t.TempDir()
	want := map[string]string{}
	for name, content := range readBundle(t) {
		if !strings.HasSuffix(name, ".Dockerfile") {
			want["operators/memcached-operator/"+version(t)+"/"+name] = content
		}
	}
	ci, err := os.ReadFile(filepath.Join(root, operatorhub.CI))
	if err != nil {
		t.Fatal(err)
	}
	want["operators/memcached-operator/ci.yaml"] = string(ci)
	for range 2 { // Once more changes nothing.
		written, err := operatorhub.Write(root, out)
		if err != nil {
			t.Fatal(err)
		}
		if got := filepath.Join(out, "operators/memcached-operator", version(t)); written.Dir != got {
			t.Errorf("%s is written, want %s", written.Dir, got)
		}
		got, err := bundle.Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, map[string]string(got)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

func TestAnotherBundleOfAVersionThatIsThereIsRefused(t *testing.T) {
	out := t.TempDir()
	if _, err := operatorhub.Write(root, out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "operators/memcached-operator", version(t), "metadata/annotations.yaml")
	if err := os.WriteFile(file, []byte("annotations: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := operatorhub.Write(root, out)
	if err == nil || !strings.Contains(err.Error(), "release a new version") {
		t.Errorf("error %v, want one that names the fix", err)
	}
	if content, _ := os.ReadFile(file); string(content) != "annotations: {}\n" {
		t.Errorf("%s was changed", file)
	}
}

// TestABundleThatTheRepositoriesRefuseIsNotWritten has a folder beside the version that nothing replaces.
func TestABundleThatTheRepositoriesRefuseIsNotWritten(t *testing.T) {
	out := t.TempDir()
	operator := filepath.Join(out, "operators/memcached-operator")
	if err := os.MkdirAll(filepath.Join(operator, "0.0.1-never"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := operatorhub.Write(root, out)
	if err == nil || !strings.Contains(err.Error(), "spec.replaces") {
		t.Errorf("error %v, want one about spec.replaces", err)
	}
	if _, err := os.Stat(filepath.Join(operator, "ci.yaml")); err == nil {
		t.Error("ci.yaml is written all the same")
	}
}

func TestExamplesOfImagesAndMaintainersAreNoted(t *testing.T) {
	copied := t.TempDir()
	files := readBundle(t)
	for name, content := range files {
		files[name] = regexp.MustCompile(`email: .*`).ReplaceAllString(content, "email: maintainers@example.com")
	}
	if err := files.Write(filepath.Join(copied, bundle.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(copied, filepath.Dir(operatorhub.CI)),
		os.DirFS(filepath.Join(root, filepath.Dir(operatorhub.CI)))); err != nil {
		t.Fatal(err)
	}
	written, err := operatorhub.Write(copied, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(written.Notes, "\n"); !strings.Contains(notes, "maintainers@example.com is an example") {
		t.Errorf("notes %q, want one about the maintainers' address", notes)
	}
}

func readBundle(t *testing.T) bundle.Files {
	t.Helper()
	files, err := bundle.Read(filepath.Join(root, bundle.Dir))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func version(t *testing.T) string {
	t.Helper()
	var csv struct{ Spec struct{ Version string } }
	text := readBundle(t)["manifests/memcached-operator.clusterserviceversion.yaml"]
	if err := yaml.Unmarshal([]byte(text), &csv); err != nil {
		t.Fatal(err)
	}
	return csv.Spec.Version
}
