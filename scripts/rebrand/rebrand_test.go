package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/rebrand/identity"
	"github.com/example-inc/memcached-operator/scripts/rebrand/rewrite"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

const root = "../.."

// another identity is put together here: a name that a file of the tree has already is refused. The project's ends like
// the name of memcached's image.
func another() identity.Identity {
	return identity.Identity{
		Module:   strings.Join([]string{"code.other.test", "platform", "caches"}, "/"),
		Group:    strings.Join([]string{"stores", "other", "test"}, "."),
		Registry: strings.Join([]string{"images.other.test:5055", "team"}, "/"),
		Name:     strings.Join([]string{"other", "memcached"}, "-"),
	}
}

// TestTheTreeHasOtherNamesAndGetsItsOwnBack works in a copy. What depends on the tools, which make rebrand runs, too,
// is left to make rebrand ARGS="--dry-run --check 'make test'".
func TestTheTreeHasOtherNamesAndGetsItsOwnBack(t *testing.T) {
	from, err := identity.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	c := &copied{dir: t.TempDir(), from: from, to: another()}
	if err := c.to.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := c.copy(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if err := c.replace(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := c.search(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if now, err := identity.Read(c.dir); err != nil || now != c.to {
		t.Errorf("the identity is %+v, %v", now, err)
	}
	t.Run("the overlays build", func(t *testing.T) {
		if err := c.overlays(func(string) {}); err != nil {
			t.Error(err)
		}
	})
	t.Run("the operator builds and its unit tests pass", func(t *testing.T) {
		// Its hashes and golden files depend on the names.
		golden := []string{"go", "test", "-vet=off", "./operator/internal/render", "-run", "TestObjectsMatchTheirGoldenFiles", "-update"}
		tests := []string{"go", "test", "-vet=off", "./operator/api/...", "./operator/internal/names",
			"./operator/internal/plan", "./operator/internal/render", "./operator/internal/drift", "./operator/internal/status"}
		build := []string{"go", "build", "-o", os.DevNull, "./operator/cmd/manager"}
		for _, words := range [][]string{build, golden, tests} {
			if err := c.run(t.Context(), c.dir, words...); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("every version has the same value in all places", func(t *testing.T) {
		for _, words := range [][]string{{"git", "add", "--all"}, {"go", "run", "./scripts/versions"}} {
			if err := c.run(t.Context(), c.dir, words...); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("and back again", func(t *testing.T) { assertBack(t, c) })
}

// assertBack gives the copy its former names. But for the golden files, which the test before wrote, it is then what
// it was, byte for byte.
func assertBack(t *testing.T, c *copied) {
	t.Helper()
	files, err := worktree.Files(t.Context(), c.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := rewrite.New(c.to, c.from).Tree(c.dir, files); err != nil {
		t.Fatal(err)
	}
	if _, err := worktree.Git(t.Context(), c.dir, "add", "--all"); err != nil {
		t.Fatal(err)
	}
	changed, err := worktree.Git(t.Context(), c.dir, "diff", "--cached", "--", ".", ":!operator/internal/render/testdata")
	if err != nil {
		t.Fatal(err)
	}
	if changed != "" {
		t.Errorf("what differs:\n%s", changed)
	}
}

func TestRebrandChangesNothingIfAnythingIsWrong(t *testing.T) {
	tests := map[string]struct {
		dirty string
		args  []string
		want  string
	}{
		"no name":                     {"", nil, "nothing to change"},
		"the names that it has":       {"", []string{"--name", "widget-controller"}, "nothing to change"},
		"a name that cannot be":       {"", []string{"--group", "widgets"}, "GROUP=widgets: has no dot"},
		"an uncommitted file":         {"new.txt", []string{"--name", "nuts"}, "uncommitted changes"},
		"a name that is in use":       {"", []string{"--name", "bolts"}, "README.md:2 already uses one of the new names"},
		"a name that is too long":     {"", []string{"--name", strings.Repeat("n", 60)}, "use at most 55 characters"},
		"a generator that fails":      {"", []string{"--name", "nuts"}, "make generate manifests api-docs: exit status"},
		"several names that can't be": {"", []string{"--name", "N", "--group", "g"}, "GROUP=g: has no dot"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := widgets(t)
			if tc.dirty != "" {
				if err := os.WriteFile(filepath.Join(dir, tc.dirty), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			before := status(t, dir)
			command := newCommand()
			command.SetArgs(tc.args)
			var out bytes.Buffer
			err := command.ExecuteContext(progress.WithOutput(t.Context(), &out))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v\nwant %q", err, tc.want)
			}
			if diff := cmp.Diff(before, status(t, dir)); diff != "" {
				t.Errorf("the tree changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestWhatIsFoundGoodIsStagedAsAWhole(t *testing.T) {
	dir := widgets(t)
	from, err := identity.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := &copied{dir: t.TempDir(), from: from, to: from.With(identity.Identity{Name: "nuts"}), out: &out}
	if err := c.copy(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := c.replace(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := c.adopt(t.Context(), dir, true); err != nil || status(t, dir) != "" {
		t.Errorf("a dry run: %v, %s", err, status(t, dir))
	}
	if err := c.adopt(t.Context(), dir, false); err != nil {
		t.Fatal(err)
	}
	want := "M  Makefile\nM  PROJECT\nM  README.md\nR  widget-controller.yaml -> nuts.yaml\n"
	if diff := cmp.Diff(want, status(t, dir)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for _, want := range []string{"NAME      widget-controller -> nuts\n", "GROUP     parts.widgets.test (unchanged)\n", "4 files changed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

func TestTheEnvironmentOfMakeIsNotHandedOn(t *testing.T) {
	t.Setenv("MAKEFLAGS", " -- NAME=x")
	t.Setenv("NAME", "x")
	t.Setenv("KEPT", "x")
	got := environment()
	if slices.Contains(got, "NAME=x") || slices.Contains(got, "MAKEFLAGS= -- NAME=x") || !slices.Contains(got, "KEPT=x") {
		t.Errorf("environment: %q", got)
	}
}

// widgets is the repository of a small project that is not this one.
func widgets(t *testing.T) string {
	t.Helper()
	files := map[string]string{
		"go.mod":                 "module example.net/team/widgets\n",
		"Makefile":               "REGISTRY ?= localhost:5009/team\ngenerate:\n\t@echo widget-controller; exit 1\n",
		"PROJECT":                "projectName: widget-controller\nresources:\n- domain: widgets.test\n  group: parts\n",
		"README.md":              "widget-controller-metrics\nneeds bolts\n",
		"widget-controller.yaml": "a: 1\nb: 2\nc: 3\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "--all"},
		{"-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "--message", "x"},
	} {
		if _, err := worktree.Git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func status(t *testing.T, dir string) string {
	t.Helper()
	out, err := worktree.Git(t.Context(), dir, "status", "--porcelain")
	if err != nil {
		t.Fatal(err)
	}
	return out
}
