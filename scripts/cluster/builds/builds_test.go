package builds

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

const pinned = `module example.com/wrap

require example.com/tool v1.2.3
`

// several is a program that prints the name it was called with.
const several = `package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() { fmt.Print(filepath.Base(os.Args[0])) }
`

// tool is a component of a tree that has nothing else.
func tool(t *testing.T, files map[string]string) (root string, c *component) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root = t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, "wrap", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, &component{name: "tool", mod: "wrap/go.mod", module: "example.com/tool"}
}

func TestTheGoModIsTheOnePlaceThatStatesAVersion(t *testing.T) {
	tests := map[string]struct {
		files   map[string]string
		wantErr string
	}{
		"a requirement":            {map[string]string{"go.mod": pinned}, ""},
		"no requirement":           {map[string]string{"go.mod": "module example.com/wrap\n"}, "doesn't require"},
		"a file that is no go.mod": {map[string]string{"go.mod": "?"}, "wrap/go.mod"},
		"no file":                  {nil, "wrap/go.mod, which pins example.com/tool, is missing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root, c := tool(t, tc.files)
			version, err := c.version(root)
			if tc.wantErr == "" && (err != nil || version != "v1.2.3") ||
				tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("version() = %q, %v, want an error with %q", version, err, tc.wantErr)
			}
		})
	}
}

func TestTheCacheKeyFollowsWhatIsBuiltAndNotThePathOfTheTree(t *testing.T) {
	key := func(c *component, root string) string {
		dir, err := c.cacheDir(root, "v1.2.3", "tool")
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Base(dir)
	}
	root, c := tool(t, map[string]string{"go.mod": pinned, "go.sum": "a\n", "main.go": several})
	before := key(c, root)
	changes := map[string]struct {
		file string
		same bool
	}{
		"another pin":                   {"go.mod", false},
		"another checksum":              {"go.sum", false},
		"another program":               {"sub/main.go", false},
		"a file that is not built":      {"README.md", true},
		"the go.mod of another version": {"next.mod", true},
		"the same in a clone elsewhere": {"", true},
	}
	for name, tc := range changes {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"go.mod": pinned, "go.sum": "a\n", "main.go": several}
			if tc.file != "" {
				files[tc.file] += "// changed\n"
			}
			clone, c := tool(t, files)
			if got := key(c, clone); (got == before) != tc.same {
				t.Errorf("the key is %s, and was %s", got, before)
			}
		})
	}
	c.tags = "other"
	if key(c, root) == before {
		t.Error("another flag has the same key")
	}
}

func TestOneFileIsSeveralPrograms(t *testing.T) {
	root, c := tool(t, map[string]string{"go.mod": "module example.com/wrap\n", "main.go": several})
	ctx := progress.WithOutput(t.Context(), t.Output())
	g := &group{
		component: c, pinned: "v1.2.3", cache: filepath.Join(root, "bin", "tool"),
		binaries: []Binary{{"one", "example.com/wrap", c}, {"two", "example.com/wrap", c}},
	}
	for range 2 { // The second time as well: another build may have made them meanwhile.
		if err := g.build(ctx, root); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one", "two"} {
		out, err := exec.CommandContext(ctx, filepath.Join(g.cache, name)).Output()
		if string(out) != name || err != nil {
			t.Errorf("%s printed %q, %v, want its own name", name, out, err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(g.cache))
	if err != nil || len(left) != 1 {
		t.Errorf("the cache has %v, %v, want one folder", left, err)
	}
}

// A program in place of `go` notes what it was asked for.
func TestModulesOfTheLaterBuildsAreFetchedMeanwhile(t *testing.T) {
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	script := "#!/bin/sh\necho \"$@\" >>'" + log + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	root, c := tool(t, map[string]string{"go.mod": pinned})
	var groups []*group
	for _, name := range []string{"first", "second"} {
		groups = append(groups, &group{component: c, binaries: []Binary{{name, "example.com/" + name, c}}})
	}
	fetchAhead(t.Context(), root, groups)()
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("list -modfile=go.mod -deps -tags= example.com/second\n", string(got)); diff != "" {
		t.Errorf("other modules were fetched (-want +got):\n%s", diff)
	}
}

func TestEachProgramIsPinnedAndKnowsItsName(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range slices.Concat(WithArgoCD(ArgoCDs()[0]), ArgoCDs(), Simulated()) {
		if version, err := Version(b); err != nil || !strings.HasPrefix(version, "v") {
			t.Errorf("Version(%s) = %q, %v", b.Name, version, err)
		}
		folder, ok := strings.CutPrefix(b.Package, own)
		if !ok || b == CoreDNS || b == Kubectl || b.name == "argocd" { // which go by other names, or by none
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, "scripts/cluster/builds", folder, "main.go"))
		if err != nil || !strings.Contains(string(source), `"`+b.Name+`"`) {
			t.Errorf("%s is built from %s, which knows no such name: %v", b.Name, folder, err)
		}
	}
}

func TestArgoCDIsFoundByVersion(t *testing.T) {
	newest := ArgoCDs()[0]
	pin, err := Version(newest)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"no Argo CD ", strings.TrimPrefix(pin, "v")}
	tests := map[string]struct {
		version string
		wantErr []string
	}{
		"no version is the default":          {"", nil},
		"an exact version is found":          {pin, nil},
		"the letter v may be left out":       {strings.TrimPrefix(pin, "v"), nil},
		"the end may be left out":            {"3.5", nil},
		"a major version is enough":          {"3", nil},
		"half a number is no version":        {"3.5.", known},
		"an unknown version names the known": {"3.1.0", known},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ArgoCD(tc.version)
			if (err == nil) != (tc.wantErr == nil) || err == nil && got != newest {
				t.Fatalf("ArgoCD(%q) = %v, %v", tc.version, got, err)
			}
			for _, want := range tc.wantErr {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("ArgoCD(%q) = %q, want %q in it", tc.version, err, want)
				}
			}
		})
	}
}

func TestAFailureShowsTheCommandTheEndOfItsOutputAndAHint(t *testing.T) {
	tests := map[string]struct{ output, err, want string }{
		"a full disk, as the compiler reports it": {
			"open /cache/x: no space left on device", "exit status 1", "The disk is full. Free some space",
		},
		"a proxy without an address": {
			`Get "https://proxy.example.com/m": dial tcp: no such host`, "exit status 1", "go env GOPROXY",
		},
		"a process that the kernel ended": {"", "signal: killed", "for want of memory"},
		"a mistake in the code needs no hint": {
			strings.Repeat("noise\n", 40) + "undefined: y\n", "exit status 1", "undefined: y",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("go", "build", "./x")
			cmd.Dir = "/src"
			got := failure(cmd, []byte(tc.output), errors.New(tc.err)).Error()
			for _, want := range []string{"go build ./x (in /src): " + tc.err, tc.want} {
				if !strings.Contains(got, want) {
					t.Errorf("failure() = %q, want %q in it", got, want)
				}
			}
			if strings.Count(got, "noise") > 15 {
				t.Errorf("too much noise: %s", got)
			}
			if strings.Contains(got, "undefined") && strings.Contains(got, "run it again") {
				t.Errorf("a hint that doesn't help: %s", got)
			}
		})
	}
}
