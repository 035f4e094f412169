package builds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// several is a program that tells the name it was called with.
const several = `package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() { fmt.Print(filepath.Base(os.Args[0])) }
`

func TestOneFileIsSeveralPrograms(t *testing.T) {
	root := tree(t, "module example.com/wrap\n", "")
	if err := os.WriteFile(filepath.Join(root, "wrap", "main.go"), []byte(several), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &wrapper{component: "tool", dir: "wrap", module: "example.com/tool"}
	g := &group{
		wrapper: w, version: "v1.2.3", cache: filepath.Join(root, "cache"),
		missing: []Binary{{"one", "example.com/wrap", w}, {"two", "example.com/wrap", w}},
	}
	ctx := progress.WithOutput(t.Context(), t.Output())
	// The second time as well: another build may have made them meanwhile.
	for range 2 {
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
	left, err := os.ReadDir(g.cache)
	if err != nil || len(left) != 2 {
		t.Errorf("the cache holds %v, %v, want the two programs alone", left, err)
	}
}

func TestWhatIsBuiltIsKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := tree(t, pinned, "")
	w := &wrapper{component: "tool", dir: "wrap", module: "example.com/tool"}
	binaries := []Binary{{"kept", "example.com/a", w}, {"lost", "example.com/b", w}, {"twin", "example.com/b", w}}
	dir, err := w.cacheDir(root, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	g := byWrapper(binaries)[0]
	found := Binaries{}
	if err := g.find(root, found); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("lost twin", g.names()); diff != "" {
		t.Errorf("the programs to build are others (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"example.com/b"}, g.packages()); diff != "" {
		t.Errorf("the packages to compile are others (-want +got):\n%s", diff)
	}
	if got, want := found.Path(binaries[0]), filepath.Join(dir, "kept"); got != want {
		t.Errorf("Path() = %s, want %s", got, want)
	}
}

func TestTheCacheKeyFollowsTheWrappersOwnProgram(t *testing.T) {
	root := tree(t, pinned, "")
	w := &wrapper{component: "tool", dir: "wrap", module: "example.com/tool"}
	key := func() string {
		dir, err := w.cacheDir(root, "v1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	before := key()
	file := filepath.Join(root, "wrap", "sub", "main.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(several), 0o644); err != nil {
		t.Fatal(err)
	}
	if key() == before {
		t.Error("a changed program has the key of the one before")
	}
}

// A program in place of `go` notes what it was asked for.
func TestModulesOfTheLaterBuildsAreFetchedMeanwhile(t *testing.T) {
	bin, root := t.TempDir(), tree(t, pinned, "")
	log := filepath.Join(bin, "log")
	script := "#!/bin/sh\necho \"$@\" >>'" + log + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var groups []*group
	for _, name := range []string{"first", "second", "third"} {
		w := &wrapper{dir: "wrap", tags: "tag"}
		groups = append(groups, &group{wrapper: w, missing: []Binary{{name, "example.com/" + name, w}}})
	}
	fetchAhead(t.Context(), root, groups)()
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := "list -deps -tags=tag example.com/second\nlist -deps -tags=tag example.com/third\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("other modules were fetched (-want +got):\n%s", diff)
	}
}

// Whoever asks for a program gets a file of that name, so the file has to know it.
func TestEachProgramKnowsTheNamesThatItIsCalledWith(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range Cluster() {
		folder, ok := strings.CutPrefix(b.Package, rootModule+"/")
		if ok && b != CoreDNS && !slices.Contains(literals(t, filepath.Join(root, folder, "main.go")), b.Name) {
			t.Errorf("%s is built from %s, which knows no such name", b.Name, folder)
		}
	}
}

// literals are the strings that a Go file names.
func literals(t *testing.T, file string) (all []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, value)
		}
		return true
	})
	return all
}
