//go:build e2e

package main

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/command"
	"github.com/example-inc/memcached-operator/internal/testing/soak"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
)

// Most tests use identities of made-up projects, so that a rebrand of this project does not change the tests.
var (
	widgets = identity{
		Module: "example.net/team/widget-controller", Group: "parts.widgets.test", Registry: "registry.widgets.test",
		Name: "widget-controller",
	}
	gadgets = identity{
		Module: "gadgets.test/gadget", Group: "gadget.gadgets.test", Registry: "localhost:5009/gadgets",
		Name: "my-widget-controller",
	}
)

// TestTheTreeHasOtherNamesAndGetsItsOwnBack works in a copy. The generators run only in
// make rebrand ARGS="--dry-run --check 'make test'".
func TestTheTreeHasOtherNamesAndGetsItsOwnBack(t *testing.T) {
	it := gomega.NewWithT(t)
	soak.Only(t, "the tests of this package on a few files")
	c := &copied{root: "../..", dir: t.TempDir()}
	c.to = identity{ // Joined from parts, because a rebrand fails if a file already has a new name.
		Module:   strings.Join([]string{"code.other.test", "platform", "caches"}, "/"),
		Group:    strings.Join([]string{"stores", "other", "test"}, "."),
		Registry: strings.Join([]string{"images.other.test:5055", "team"}, "/"),
		Name:     strings.Join([]string{"other", "memcached"}, "-"),
	}
	var err error
	c.from, err = readIdentity(c.root)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	it.Expect(c.to.validate()).To(gomega.Succeed())
	it.Expect(c.copy(t.Context(), nil)).To(gomega.Succeed())
	it.Expect(c.replace(t.Context(), nil)).To(gomega.Succeed())
	if err := c.search(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if now, err := readIdentity(c.dir); err != nil || now != c.to {
		t.Errorf("the identity is %+v, %v", now, err)
	}
	for _, command := range []string{
		buildOverlays,
		"go list -export ./operator/cmd/manager", // This compiles the program without linking it.
		"go test -vet=off ./operator/internal/render -run TestObjectsMatchTheirGoldenFiles -update", // hashes depend on names
		"go test -vet=off ./operator/api/... ./operator/internal/names ./operator/internal/plan ./operator/internal/render " +
			"./operator/internal/drift ./operator/internal/status",
		"go run ./scripts/versions",
	} {
		if err := c.run(command)(t.Context(), func(string) {}); err != nil {
			t.Error(err)
		}
	}
	back := &copied{dir: c.dir, rewriter: rewriter{c.to, c.from}}
	it.Expect(back.replace(t.Context(), nil)).To(gomega.Succeed())
	tree.Git(t, c.dir, "add", "--all")
	if changed := tree.Git(t, c.dir, "diff", "--cached", "HEAD", "--", ".", ":!operator/internal/render/testdata"); changed != "" {
		t.Errorf("with its own names again, it differs:\n%s", changed)
	}
}

func TestRebrandChangesNothingIfAnythingIsWrong(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"no name":                   {"", "nothing to change"},
		"the names that it has":     {"--name widget-controller", "nothing to change"},
		"uncommitted changes":       {"--name nuts", "uncommitted changes"},
		"a name that is in use":     {"--name bolts", "README.md:2 already uses one of the new names"},
		"a path that exists":        {"--name my-widget-controller", "which exists: choose another name"},
		"a name that is too long":   {"--name " + strings.Repeat("n", 60), "use at most 55 characters"},
		"a generator that fails":    {"--name nuts", "make generate: exit status"},
		"a module that is a URL":    {"--module https://git.test/x", "MODULE=https://git.test/x: write the address"},
		"a module without a path":   {"--module widgets.test", "MODULE=widgets.test: write the address"},
		"a module of a later major": {"--module widgets.test/x/v2", "without a major version"},
		"a group in upper case":     {"--group Parts.widgets.test", "GROUP=Parts.widgets.test: use a DNS name"},
		"several wrong names":       {"--name N --group g", "GROUP=g: use a DNS name"},
		"a group below k8s.io":      {"--group parts.k8s.io", "GROUP=parts.k8s.io: this domain is reserved for Kubernetes"},
		"a group that is too long":  {"--group " + strings.Repeat("parts.", 41) + "test", "short enough for the name of the Custom"},
		"a registry with a tag":     {"--registry r.test/x:1", `REGISTRY="r.test/x:1": `},
		"a name with a dot":         {"--name widgets.test", "NAME=widgets.test: names of Services"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := widgetTree(t)
			if name == "uncommitted changes" {
				tree.Write(t, dir, map[string]string{"new.txt": ""})
			}
			t.Chdir(dir)
			before := tree.Git(t, dir, "status", "--porcelain")
			_, err := command.Run(t, newCommand(), strings.Fields(tc.args)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v\nwant %q", err, tc.want)
			}
			if diff := cmp.Diff(before, tree.Git(t, dir, "status", "--porcelain")); diff != "" {
				t.Errorf("the tree changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestTheWholeChangeIsStaged(t *testing.T) {
	it := gomega.NewWithT(t)
	t.Setenv("NAME", "x") // make sets the parameter as a variable. The make that a generator runs must not have it.
	t.Setenv("MAKEFLAGS", " -- NAME=x")
	if slices.ContainsFunc(environment(), func(v string) bool { return strings.Contains(v, "NAME=x") }) {
		t.Errorf("environment: %q", environment())
	}
	var out bytes.Buffer
	c := &copied{root: widgetTree(t), dir: t.TempDir(), out: &out}
	var err error
	c.from, err = readIdentity(c.root)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	c.to = c.from.with(identity{Name: "nuts"})
	it.Expect(c.copy(t.Context(), nil)).To(gomega.Succeed())
	it.Expect(c.replace(t.Context(), nil)).To(gomega.Succeed())
	it.Expect(c.adopt(t.Context(), true)).To(gomega.Succeed())
	if status := tree.Git(t, c.root, "status", "--porcelain"); status != "" {
		t.Errorf("a dry run changes:\n%s", status)
	}
	it.Expect(c.adopt(t.Context(), false)).To(gomega.Succeed())
	want := "M  Makefile\nM  PROJECT\nM  README.md\nR  my-widget-controller.yaml -> my-nuts.yaml\nR  widget-controller.yaml -> nuts.yaml"
	if diff := cmp.Diff(want, tree.Git(t, c.root, "status", "--porcelain")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for _, want := range []string{"NAME      widget-controller -> nuts\n", "5 files changed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

func TestNamesAreReplacedInAllSpellingsAndBack(t *testing.T) {
	dir := filepath.Join(tree.Copy(t, "testdata", "widgets"), "widgets")
	for _, r := range []rewriter{{widgets, gadgets}, {gadgets, widgets}} { // from one identity to the other, and back
		if err := r.tree(dir, slices.Collect(maps.Keys(tree.Read(t, dir)))); err != nil {
			t.Fatal(err)
		}
		want := map[identity]string{gadgets: "testdata/gadgets", widgets: "testdata/widgets"}[r.to]
		if diff := cmp.Diff(tree.Read(t, want), tree.Read(t, dir)); diff != "" {
			t.Errorf("differs from %s (-want +got):\n%s", want, diff)
		}
	}
}

func TestOldNamesThatAreLeftAreFound(t *testing.T) {
	dir := t.TempDir()
	tree.Write(t, dir, map[string]string{
		"widget-controller.yaml": "", "new names": "my-widget-controller gadget.gadgets.test", "binary": "\x00widget-controller",
		"old": "x\n a widget-controller y\nWIDGET_CONTROLLER_NAME\nparts_widgets_test\nmy-widget-controller widget-controller\n" +
			"widgets.test parts\nexample.net/team/widget-controller",
	})
	got, err := rewriter{widgets, gadgets}.leftovers(dir, []string{"binary", "new names", "old", "widget-controller.yaml"})
	want := []string{
		"old:2: a widget-controller y", "old:3: WIDGET_CONTROLLER_NAME", "old:4: parts_widgets_test",
		"old:5: my-widget-controller widget-controller", "old:7: example.net/team/widget-controller", "widget-controller.yaml: the path",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// widgetTree returns the repository of another, small project.
func widgetTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tree.Write(t, dir, map[string]string{
		"go.mod":                    "module example.net/team/widgets\n",
		"Makefile":                  "REGISTRY ?= localhost:5009/team\nfrom-types:\n\t@echo widget-controller; exit 1\n",
		"PROJECT":                   "projectName: widget-controller\nresources:\n- domain: widgets.test\n  group: parts\n",
		"README.md":                 "widget-controller-metrics\nneeds bolts\n",
		"widget-controller.yaml":    "a: 1\nb: 2\nc: 3\n",
		"my-widget-controller.yaml": "d: 4\ne: 5\nf: 6\n",
	})
	tree.Git(t, dir, "init", "--quiet")
	tree.Git(t, dir, "add", "--all")
	tree.Git(t, dir, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "--message", "x")
	return dir
}
