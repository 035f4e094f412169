package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	log "github.com/sirupsen/logrus"

	"github.com/example-inc/memcached-operator/scripts/gitops/plan"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/source"
	"github.com/example-inc/memcached-operator/scripts/gitops/verify"
)

func TestMain(m *testing.M) {
	log.SetLevel(log.ErrorLevel) // Argo CD's packages
	os.Exit(m.Run())
}

// run runs the program with arguments.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := newCommand()
	command.SetArgs(args)
	command.SetOut(&out)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestEachCommandHasHelpWithAnExample(t *testing.T) {
	for _, command := range newCommand().Commands() {
		if command.Name() != "help" && (!strings.Contains(command.Example, command.Name()) || command.Short == "") {
			t.Errorf("%s: no example", command.Name())
		}
		if _, err := run(t, command.Name(), "--help"); err != nil {
			t.Errorf("%s --help: %v", command.Name(), err)
		}
	}
}

func TestPlan(t *testing.T) {
	out, err := run(t, "plan", "--method", "olm", "--arch", "s390x", "--with", "console,manual-approval")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"olm on s390x with console, manual-approval", "okd-console", "wave 0", "catalogsources.operators.coreos.com"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	for way, folder := range map[string]string{"direct": "direct/ppc64le", "openshift": "subscription/multiarch"} {
		architecture := path.Base(folder)
		out, err = run(t, "plan", "--method", way, "--arch", architecture, "-o", "json")
		if err != nil {
			t.Fatal(err)
		}
		var got plan.Plan
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Architecture != architecture ||
			got.Applications[0].Path != "gitops/operator/"+folder {
			t.Errorf("%v: %+v", err, got)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []string
	}{
		"no way":                  {[]string{"plan"}, []string{"--method", "direct, olm-v1, olm, openshift"}},
		"an unknown way":          {[]string{"plan", "--method", "helm"}, []string{`"helm"`, "openshift"}},
		"an unknown architecture": {[]string{"plan", "--method", "olm", "--arch", "riscv64"}, []string{`"riscv64"`, "multiarch, ppc64le, s390x"}},
		"an unknown option":       {[]string{"plan", "--method", "olm", "--with", "tea"}, []string{`"tea"`}},
		"an unknown format":       {[]string{"plan", "--method", "olm", "-o", "yaml"}, []string{`"yaml"`, "json"}},
		"an unknown revision":     {[]string{"plan", "--method", "olm", "--dir", committed(t), "--diff", "nowhere"}, []string{`"nowhere"`}},
		"no repository":           {[]string{"verify", "--dir", os.TempDir()}, []string{"--dir"}},
		"no such sources":         {[]string{"verify", "--sources", filepath.Join(t.TempDir(), "gone")}, []string{"--sources", "fetch"}},
		"a list of nothing":       {[]string{"sources", "--write"}, []string{"--write", "--sources fetch"}},
		"an argument":             {[]string{"verify", "all"}, []string{"all"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, tc.args...)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}

// committed is a copy of the repository with one commit.
func committed(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files, err := repo.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if strings.HasPrefix(name, "gitops/") || strings.HasPrefix(name, "operator/config/") ||
			strings.HasPrefix(name, "overlays/") || strings.HasPrefix(name, "bundle/") {
			writeFile(t, filepath.Join(root, name), content)
		}
	}
	repository, err := git.PlainInit(root, false)
	if err != nil {
		t.Fatal(err)
	}
	work, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := work.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := work.Commit("one", &git.CommitOptions{Author: &object.Signature{Name: "test"}}); err != nil {
		t.Fatal(err)
	}
	return root
}

func writeFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPlanShowsWhatACommitChanges(t *testing.T) {
	root := committed(t)
	file := filepath.Join(root, "gitops/samples/kustomization.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, bytes.Replace(content, []byte("value: 3"), []byte("value: 5"), 1))
	out, err := run(t, "plan", "--method", "openshift", "--dir", root, "--diff", "HEAD", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var got plan.Diff
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Changes) != 1 || got.Changes[0].Application != "memcached-samples" ||
		!strings.Contains(got.Changes[0].Diff, "+  size: 5") {
		t.Errorf("changes: %+v", got.Changes)
	}
	// A way that the commit did not have is new as a whole.
	for _, folder := range []string{"gitops/apps/overlays", "gitops/bootstrap"} {
		if err := os.CopyFS(filepath.Join(root, folder, "mine"), os.DirFS(filepath.Join(root, folder, "openshift"))); err != nil {
			t.Fatal(err)
		}
	}
	out, err = run(t, "plan", "--method", "mine", "--dir", root, "--diff", "HEAD")
	if err != nil || !strings.Contains(out, "+ Memcached") || !strings.Contains(out, " 0 changed, 0 removed") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestVerify(t *testing.T) {
	out, err := run(t, "verify", "--method", "openshift")
	if err != nil || !strings.Contains(out, "0 errors") || !strings.Contains(out, "in 1 ways") {
		t.Errorf("%v\n%s", err, out)
	}
	root := committed(t)
	if err := os.Remove(filepath.Join(root, "gitops/samples/namespace.yaml")); err != nil {
		t.Fatal(err)
	}
	out, err = run(t, "verify", "--dir", root, "--method", "openshift")
	if !errors.Is(err, errProblems) || !strings.Contains(out, "error: gitops/samples, Application memcached-samples: ") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = run(t, "verify", "--dir", root, "--method", "openshift", "-o", "json")
	var report verify.Report
	if parsed := json.Unmarshal([]byte(out), &report); parsed != nil || !errors.Is(err, errProblems) || report.Errors() == 0 {
		t.Errorf("%v, %v\n%s", err, parsed, out)
	}
}

func TestSources(t *testing.T) {
	out, err := run(t, "sources")
	if err != nil || !strings.Contains(out, "cert-manager.yaml") || !strings.Contains(out, "CustomResourceDefinition") {
		t.Errorf("%v\n%s", err, out)
	}
	root, mirror := committed(t), t.TempDir()
	content, err := os.ReadFile(filepath.Join(root, source.File))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := source.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	// All other sources are files, so that a mirror is easily made.
	if err := os.Remove(filepath.Join(root, "gitops/bootstrap/argocd/operator/kustomization.yaml")); err != nil {
		t.Fatal(err)
	}
	for address := range catalog.Releases {
		if path, isFile := strings.CutPrefix(address, "https://"); isFile && !strings.Contains(path, "?") {
			writeFile(t, filepath.Join(mirror, path), []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: only}\n"))
		}
	}
	if _, err := run(t, "sources", "--dir", root, "--sources", mirror, "--write"); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(root, source.File))
	if err != nil {
		t.Fatal(err)
	}
	again, err := source.Parse(written)
	if err != nil || len(again.Given) != len(catalog.Given) {
		t.Fatalf("%v: %+v", err, again)
	}
	for address, objects := range again.Releases {
		if len(objects) != 1 || objects[0].Name != "only" {
			t.Errorf("%s: %+v", address, objects)
		}
	}
}
