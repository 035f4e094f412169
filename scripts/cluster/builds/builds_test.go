package builds

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes a wrapper module into a folder that stands for the root of the repository.
func tree(t *testing.T, gomod, gosum string) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "wrap")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"go.mod": gomod, "go.sum": gosum} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const pinned = "module m\nrequire example.com/tool v1.2.3\n"

func TestCacheKeyFollowsAllThatDecidesTheBuild(t *testing.T) {
	base := wrapper{component: "tool", dir: "wrap", module: "example.com/tool"}
	tests := map[string]struct {
		gomod, gosum string
		change       func(*wrapper)
		same         bool
	}{
		"the same inputs give the same folder":   {pinned, "sum", func(*wrapper) {}, true},
		"a changed pin gives another":            {pinned + "// changed\n", "sum", func(*wrapper) {}, false},
		"a changed checksum gives another":       {pinned, "sum2", func(*wrapper) {}, false},
		"a changed build tag gives another":      {pinned, "sum", func(w *wrapper) { w.tags = "no_cgo" }, false},
		"a changed version stamp gives another":  {pinned, "sum", func(w *wrapper) { w.stamp = "main.version" }, false},
		"text moved between files gives another": {pinned + "s", "um", func(*wrapper) {}, false},
	}
	want, err := base.cacheDir(tree(t, pinned, "sum"), "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := base
			tc.change(&w)
			got, err := w.cacheDir(tree(t, tc.gomod, tc.gosum), "v1.2.3")
			if err != nil {
				t.Fatal(err)
			}
			if (got == want) != tc.same {
				t.Errorf("cacheDir() = %s, first was %s, want same: %t", got, want, tc.same)
			}
		})
	}
}

func TestVersionComesFromTheWrapper(t *testing.T) {
	w := wrapper{dir: "wrap", module: "example.com/tool"}
	tests := map[string]struct {
		gomod, want, wantErr string
	}{
		"a required module has its version":    {pinned, "v1.2.3", ""},
		"a module that isn't required is told": {"module m\n", "", "doesn't require example.com/tool"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := w.version(tree(t, tc.gomod, ""))
			if got != tc.want {
				t.Errorf("version() = %q, want %q", got, tc.want)
			}
			if tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("version() error = %v, want one with %q", err, tc.wantErr)
			}
		})
	}
	if _, err := w.version(t.TempDir()); err == nil || !strings.Contains(err.Error(), "wrap/go.mod, which pins") {
		t.Errorf("version() without a go.mod = %v, want it to name the missing file", err)
	}
}

func TestEveryBinaryIsPinned(t *testing.T) {
	for _, b := range append(WithArgoCD(ArgoCDs[0]), ArgoCDs[1:]...) {
		if version, err := Version(b); err != nil || !strings.HasPrefix(version, "v") {
			t.Errorf("Version(%s) = %q, %v", b.Name, version, err)
		}
	}
}

func TestArgoCDIsFoundByVersion(t *testing.T) {
	newest := ArgoCDs[0]
	known := []string{"no Argo CD ", strings.TrimPrefix(exact(t, newest), "v")}
	tests := map[string]struct {
		version string
		want    Binary
		wantErr []string
	}{
		"no version is the default":            {"", newest, nil},
		"an exact version is found":            {exact(t, newest), newest, nil},
		"the letter v may be left out":         {strings.TrimPrefix(exact(t, newest), "v"), newest, nil},
		"the end may be left out":              {"3.5", newest, nil},
		"a major version is enough":            {"3", newest, nil},
		"half a number is no version":          {"3.5.", Binary{}, known},
		"an unknown version is told the known": {"3.1.0", Binary{}, known},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ArgoCD(tc.version)
			if got != tc.want || (err == nil) != (tc.wantErr == nil) {
				t.Fatalf("ArgoCD(%q) = %s, %v, want %s", tc.version, got.Package, err, tc.want.Package)
			}
			for _, want := range tc.wantErr {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("ArgoCD(%q) = %q, want %q in it", tc.version, err, want)
				}
			}
		})
	}
}

func exact(t *testing.T, binary Binary) string {
	t.Helper()
	version, err := Version(binary)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func TestOutputName(t *testing.T) {
	tests := map[string]struct{ pkg, want string }{
		"the last element names the program":    {"k8s.io/kubernetes/cmd/kubelet", "kubelet"},
		"a major version is not a name":         {"go.etcd.io/etcd/server/v3", "server"},
		"a name that begins like one is a name": {"example.com/cmd/v1tool", "v1tool"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := outputName(tc.pkg); got != tc.want {
				t.Errorf("outputName(%s) = %q, want %q", tc.pkg, got, tc.want)
			}
		})
	}
}

func TestFailureShowsTheCommandAndTheEndOfItsOutput(t *testing.T) {
	cmd := exec.Command("go", "build", "./x")
	cmd.Dir = "/src"
	err := failure(cmd, []byte(strings.Repeat("noise\n", 40)+"undefined: y\n"), errors.New("exit status 1"))
	for _, want := range []string{"go build ./x (in /src): exit status 1", "undefined: y"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("failure() = %q, want %q in it", err, want)
		}
	}
	if lines := strings.Count(err.Error(), "noise"); lines > 15 {
		t.Errorf("failure() shows %d lines of noise", lines)
	}
}
