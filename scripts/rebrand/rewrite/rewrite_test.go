package rewrite

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/rebrand/identity"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// The two identities are of projects that are not this one, so that a rebrand of this one leaves the tests alone.
var (
	widgets = identity.Identity{
		Module: "example.net/team/widget-controller", Group: "parts.widgets.test", Registry: "registry.widgets.test",
		Name: "widget-controller",
	}
	gadgets = identity.Identity{
		Module: "gadgets.test/gadget", Group: "gadget.gadgets.test", Registry: "localhost:5009/gadgets",
		Name: "my-widget-controller",
	}
)

func TestText(t *testing.T) {
	tests := map[string]struct{ before, after string }{
		"an import":                      {`"example.net/team/widget-controller/api"`, `"gadgets.test/gadget/api"`},
		"a link to the repository":       {"https://example.net/team/widget-controller/blob/x", "https://gadgets.test/gadget/blob/x"},
		"an image":                       {"registry.widgets.test/widget-controller:1", "localhost:5009/gadgets/my-widget-controller:1"},
		"an API version":                 {"parts.widgets.test/v1", "gadget.gadgets.test/v1"},
		"a custom resource definition":   {"nuts.parts.widgets.test", "nuts.gadget.gadgets.test"},
		"a Lease":                        {"widget-controller.parts.widgets.test", "my-widget-controller.gadget.gadgets.test"},
		"an annotation in a JSON patch":  {"/annotations/parts.widgets.test~1adopt", "/annotations/gadget.gadgets.test~1adopt"},
		"a regular expression":           {`parts\.widgets\.test_Nut`, `gadget\.gadgets\.test_Nut`},
		"a regular expression in quotes": {`"registry\\.widgets\\.test/x"`, `"localhost\\:5009/gadgets/x"`},
		"a namespace":                    {"widget-controller-system", "my-widget-controller-system"},
		"a metric":                       {"widget_controller_writes_total", "my_widget_controller_writes_total"},
		"the repository of a user":       {"https://git.widgets.test/team/widget-controller.git", "https://git.widgets.test/team/my-widget-controller.git"},
		"other names of the same domain": {"app.widgets.test widgets.test", "app.widgets.test widgets.test"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			there, err := New(widgets, gadgets).Text("file", tc.before)
			if err != nil || there != tc.after {
				t.Errorf("there: %q %v, want %q", there, err, tc.after)
			}
			if back, err := New(gadgets, widgets).Text("file", there); err != nil || back != tc.before {
				t.Errorf("back: %q %v, want %q", back, err, tc.before)
			}
		})
	}
}

func TestANameThatStaysIsNotChangedByAnother(t *testing.T) {
	to := widgets.With(identity.Identity{Name: "nuts"})
	got, err := New(widgets, to).Text("file", "example.net/team/widget-controller widget-controller")
	if want := "example.net/team/widget-controller nuts"; err != nil || got != want {
		t.Errorf("%q %v, want %q", got, err, want)
	}
}

func TestANameThatIsInUseIsRefused(t *testing.T) {
	_, err := New(widgets, widgets.With(identity.Identity{Name: "cache"})).Text("docs/x.md", "first\na cache of widget-controller\n")
	if err == nil || !strings.Contains(err.Error(), "docs/x.md:2 already uses one of the new names") {
		t.Errorf("error: %v", err)
	}
}

func TestTree(t *testing.T) {
	before := map[string]string{
		"PROJECT":                          "domain: widgets.test\nprojectName: widget-controller\nresources:\n- domain: widgets.test\n  group: parts\n",
		"crd/parts.widgets.test_nuts.yaml": "group: parts.widgets.test\n",
		"sorted.go": "package x\n\nimport (\n\t_ \"a.test/x\"\n\t_ \"example.net/team/widget-controller/y\"\n\t_ \"golden.test/z\"\n)\n\n" +
			"var m = map[string]int{\n\t\"widget-controller\": 1, // one\n\t\"x\":                 2, // two\n}\n",
		"picture": "\x00widget-controller",
	}
	after := map[string]string{
		"PROJECT":                           "domain: gadgets.test\nprojectName: my-widget-controller\nresources:\n- domain: gadgets.test\n  group: gadget\n",
		"crd/gadget.gadgets.test_nuts.yaml": "group: gadget.gadgets.test\n",
		"sorted.go": "package x\n\nimport (\n\t_ \"a.test/x\"\n\t_ \"gadgets.test/gadget/y\"\n\t_ \"golden.test/z\"\n)\n\n" +
			"var m = map[string]int{\n\t\"my-widget-controller\": 1, // one\n\t\"x\":                    2, // two\n}\n",
		"picture": "\x00widget-controller",
	}
	dir := t.TempDir()
	create(t, dir, before)
	if err := New(widgets, gadgets).Tree(dir, names(before)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, read(t, dir)); diff != "" {
		t.Errorf("there (-want +got):\n%s", diff)
	}
	if err := New(gadgets, widgets).Tree(dir, names(after)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, read(t, dir)); diff != "" {
		t.Errorf("and back (-want +got):\n%s", diff)
	}
}

func TestAFileDoesNotReplaceAnother(t *testing.T) {
	files := map[string]string{"widget-controller/x": "", "nuts/x": ""}
	dir := t.TempDir()
	create(t, dir, files)
	if err := New(widgets, widgets.With(identity.Identity{Name: "nuts"})).Tree(dir, names(files)); err == nil {
		t.Error("no error")
	}
}

func TestLeftovers(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"new names":                       {"my-widget-controller gadget.gadgets.test", nil},
		"an old name":                     {"x\n a widget-controller y", []string{"file:2: a widget-controller y"}},
		"an old name in capitals":         {"WIDGET_CONTROLLER_NAME", []string{"file:1: WIDGET_CONTROLLER_NAME"}},
		"an old group with other dots":    {"parts_widgets_test", []string{"file:1: parts_widgets_test"}},
		"an old name beside the new one":  {"my-widget-controller widget-controller", []string{"file:1: my-widget-controller widget-controller"}},
		"names that are nobody's":         {"widgets.test parts", nil},
		"a binary file is not looked at":  {"\x00widget-controller", nil},
		"a module that contains the name": {"example.net/team/widget-controller", []string{"file:1: example.net/team/widget-controller"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			create(t, dir, map[string]string{"file": tc.text})
			got, err := New(widgets, gadgets).Leftovers(dir, []string{"file"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnOldPathIsALeftover(t *testing.T) {
	dir := t.TempDir()
	create(t, dir, map[string]string{"widget-controller.yaml": ""})
	got, err := New(widgets, gadgets).Leftovers(dir, []string{"widget-controller.yaml"})
	if diff := cmp.Diff([]string{"widget-controller.yaml: the path"}, got); diff != "" || err != nil {
		t.Errorf("found (-want +got) %v:\n%s", err, diff)
	}
}

func names(files map[string]string) (all []string) {
	for name := range files {
		all = append(all, name)
	}
	return all
}

func create(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := worktree.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
