package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/gitops/tree"
)

var update = flag.Bool("update", false, "write the golden files again")

// cache is shared by all tests, because most of the tree is the same in each test.
var cache = tree.Cache{}

var load = sync.OnceValues(func() (tree.Files, error) {
	_, files, err := tree.Load("../..")
	return files, err
})

// changed returns the repository's files with the settings of testdata. Each replacement is a file, an old text in it,
// and the new text.
func changed(t *testing.T, replacements ...[3]string) tree.Files {
	t.Helper()
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile("testdata/plan/settings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = files.With(tree.Files{tree.SettingsFile: settings})
	for _, r := range replacements {
		text := strings.ReplaceAll(string(files[r[0]]), r[1], r[2])
		if text == string(files[r[0]]) {
			t.Fatalf("%s does not hold %q", r[0], r[1])
		}
		files = files.With(tree.Files{r[0]: []byte(text)})
	}
	return files
}

func planOf(t *testing.T, files tree.Files, method string) (plan, error) {
	t.Helper()
	builder, err := tree.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	builder.Cache = cache
	return newPlan(t.Context(), builder, method)
}

// golden compares what write writes with the file of this name in testdata.
func golden(t *testing.T, name string, write func(io.Writer)) {
	t.Helper()
	var out bytes.Buffer
	write(&out)
	file := "testdata/plan/" + name + ".txt"
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s, which make generate writes (-want +got):\n%s", file, diff)
	}
}

func TestPlans(t *testing.T) {
	for _, method := range []string{"direct", "olm", "openshift"} {
		t.Run(method, func(t *testing.T) {
			files, err := changed(t).Variant("arm64")
			if err != nil {
				t.Fatal(err)
			}
			p, err := planOf(t, files, method)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, method, func(out io.Writer) { p.text(out, nil) })
		})
	}
}

func TestDiffs(t *testing.T) {
	tests := map[string]struct {
		method  string
		changes [][3]string
	}{
		"nothing": {"olm", nil},
		"upgrade": {"olm", [][3]string{{tree.SettingsFile, "sha256:111", "sha256:222"}}},
		"waves":   {"direct", [][3]string{{"gitops/apps/base/samples.yaml", `"3"`, `"4"`}}},
		"removed": {"direct", [][3]string{{"gitops/apps/base/kustomization.yaml", "  - samples.yaml # wave 3\n", ""}}},
		"by-hand": {"direct", [][3]string{{"gitops/bootstrap/base/projects.yaml", "    - {group: autoscaling, kind: HorizontalPodAutoscaler}\n", ""}}},
		"release": {"olm", [][3]string{
			{"gitops/platform/olm/kustomization.yaml", "v0.46.0", "v0.47.0"}, {tree.CatalogFile, "v0.46.0", "v0.47.0"},
			{tree.CatalogFile, `"name":"aggregate-olm-view"`, `"name":"aggregate-olm-reader"`},
			{tree.CatalogFile, "quay.io/operator-framework/opm", "quay.io/operator-framework/opm2"},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, err := planOf(t, changed(t), tc.method)
			if err != nil {
				t.Fatal(err)
			}
			after, err := planOf(t, changed(t, tc.changes...), tc.method)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "diff-"+name, func(out io.Writer) { after.since(before, "main").text(out) })
		})
	}
}

func TestATreeWithFaultsIsNotPlanned(t *testing.T) {
	for name, tc := range map[string]struct{ file, old, new, want string }{
		"a path that does not exist":       {"gitops/apps/base/samples.yaml", "gitops/samples", "gitops/sample", "gitops/sample"},
		"a release that is not listed":     {"gitops/platform/cert-manager/kustomization.yaml", "/download/v", "/download/v9", "does not list"},
		"settings that Argo CD can't read": {"gitops/bootstrap/argocd/existing/argocd-cm.yaml", "name: argocd-cm", "name: other", "argocd-cm"},
	} {
		if _, err := planOf(t, changed(t, [3]string{tc.file, tc.old, tc.new}), "direct"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
