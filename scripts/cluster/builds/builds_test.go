package builds

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

const pinned = `module example.com/wrap

require example.com/tool v1.2.3

replace example.com/tool => ./tool
`

// several is a program that prints the name by which it was called.
const several = `package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() { fmt.Print(filepath.Base(os.Args[0])) }
`

// tool makes a new tree, and returns its only component. From then on, the tree is the working directory of the test.
func tool(t *testing.T, files map[string]string) *Component {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	tree.Write(t, ".", map[string]string{"go.mod": "module " + rootModule + "\n"})
	tree.Write(t, "wrap", files)
	return &Component{
		name: "tool", mod: "wrap/go.mod", module: "example.com/tool",
		programs: []program{{"one", "example.com/wrap"}, {"two", "example.com/wrap"}},
	}
}

// keepCompiled keeps the compiler's cache, which has the standard library, for a test that sets another XDG_CACHE_HOME.
func keepCompiled(t *testing.T) {
	t.Helper()
	compiled, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(compiled)))
}

func TestTheCacheKeyFollowsWhatIsBuiltAndNotThePathOfTheTree(t *testing.T) {
	changes := map[string]struct {
		file, tags string
		same       bool
	}{
		"another pin":                   {file: "go.mod"},
		"another checksum":              {file: "go.sum"},
		"another program":               {file: "sub/main.go"},
		"another flag":                  {tags: "other"},
		"a file that is not built":      {file: "README.md", same: true},
		"the go.mod of another version": {file: "next.mod", same: true},
		"the same in a clone elsewhere": {same: true},
	}
	key := func(t *testing.T, changed, tags string) string {
		t.Helper()
		files := map[string]string{"go.mod": pinned, "go.sum": "a\n", "main.go": several}
		if changed != "" {
			files[changed] += "// changed\n"
		}
		c := tool(t, files)
		c.tags = tags
		dir, err := c.cacheDir()
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Base(dir)
	}
	before := key(t, "", "")
	for name, tc := range changes {
		t.Run(name, func(t *testing.T) {
			if got := key(t, tc.file, tc.tags); (got == before) != tc.same {
				t.Errorf("the key is %s, and was %s", got, before)
			}
		})
	}
}

func TestOneFileIsSeveralPrograms(t *testing.T) {
	keepCompiled(t)
	c := tool(t, map[string]string{"go.mod": pinned, "main.go": several, "tool/go.mod": "module example.com/tool\n"})
	ctx := progress.WithOutput(t.Context(), t.Output())
	binaries, err := Ensure(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.build(ctx); err != nil {
		t.Errorf("where another build made them in the meantime: %v", err)
	}
	for name, path := range binaries {
		if out, err := exec.CommandContext(ctx, path).Output(); string(out) != name || err != nil {
			t.Errorf("%s printed %q, %v, want its own name", name, out, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(filepath.Dir(binaries["one"]), ".."))
	if err != nil || len(left) != 1 {
		t.Errorf("the cache has %v, %v, want one folder", left, err)
	}
}

func TestEachComponentIsPinnedAndItsProgramsKnowTheirNames(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(WithArgoCD(), Kwok, ApplicationSets) {
		if version, err := c.Version(); err != nil || !strings.HasPrefix(version, "v") {
			t.Errorf("the version of %s = %q, %v", c.name, version, err)
		}
		for _, p := range c.programs {
			folder, ok := strings.CutPrefix(p.pkg, own)
			if !ok || slices.Contains([]string{"coredns", "kubectl", "argocd", "argocd-applicationset-controller"}, p.name) { // by other names, or none
				continue
			}
			source, err := os.ReadFile(filepath.Join(root, "scripts/cluster/builds", folder, "main.go"))
			if err != nil || !strings.Contains(string(source), `"`+p.name+`"`) {
				t.Errorf("%s is built from %s, which knows no such name: %v", p.name, folder, err)
			}
		}
	}
}

func TestAFailureShowsTheCommandTheEndOfItsOutputAndAHint(t *testing.T) {
	tests := map[string]struct{ output, err, want string }{
		"a full disk, as the compiler reports it": {
			"open /cache/x: no space left on device, i/o timeout", "exit status 1", "The disk is full. Free some space",
		},
		"a proxy without an address": {
			`Get "https://proxy.example.com/m": dial tcp: no such host`, "exit status 1", "go env GOPROXY",
		},
		"a process that the kernel ended": {"", "signal: killed", "memory ran out"},
		"a mistake in the code needs no hint": {
			strings.Repeat("noise\n", 40) + "undefined: y\n", "exit status 1", "undefined: y",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("go", "build", "./x")
			cmd.Dir = "/src"
			got := failure(cmd, tc.output, errors.New(tc.err)).Error()
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
