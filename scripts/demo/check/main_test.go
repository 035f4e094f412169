package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// server is a real API server without controllers, for all tests.
var server *demotest.Server

func TestMain(m *testing.M) {
	os.Exit(demotest.Main(m, func(s *demotest.Server) error {
		server = s
		return nil
	}))
}

// subject is one whose cluster is reached, by an administrator.
func subject(t *testing.T, way target.Way) *Subject {
	t.Helper()
	return subjectOf(t, way, "admin", "system:masters")
}

// subjectOf is one whose cluster is reached by a user.
func subjectOf(t *testing.T, way target.Way, user string, groups ...string) *Subject {
	t.Helper()
	kubeconfig, err := server.Kubeconfig(user, groups...)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	kube, err := target.Connect("")
	if err != nil {
		t.Fatal(err)
	}
	root, err := builds.Root()
	if err != nil {
		t.Fatal(err)
	}
	s := &Subject{
		Options: target.Options{
			Way: way, Registry: "registry.example.org/team", Repo: "https://git.example.org/x.git",
			Revision: target.Branch, Architecture: "amd64",
		},
		Root: root, Tree: t.TempDir(), Clone: filepath.Join(t.TempDir(), "clone"), Kube: kube,
	}
	if err := target.Replace(root, s.Tree); err != nil {
		t.Fatal(err)
	}
	return s
}

// create creates objects, and removes them when the test is over.
func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := server.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { remove(t, object) })
	}
}

// namespace makes a namespace, which stays: no controller is there that could empty it.
func namespace(t *testing.T, name string) {
	t.Helper()
	err := server.Create(t.Context(), demotest.Namespace(name))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

func remove(t *testing.T, object client.Object) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := server.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// expect checks how a check ended, that it says some words, and that it changed nothing.
func expect(t *testing.T, got Result, status Status, words ...string) {
	t.Helper()
	if got.Status != status {
		t.Errorf("%s: %s (%s), want %s", got.Status, got.Found, got.Remedy, status)
	}
	for _, word := range words {
		if text := got.Found + " → " + got.Remedy; !strings.Contains(text, word) {
			t.Errorf("%q lacks %q", text, word)
		}
	}
	if (status == Failed || status == Warning) && got.Remedy == "" {
		t.Errorf("no remedy for: %s", got.Found)
	}
	if _, changes := server.Seen.Take(); changes != nil {
		t.Errorf("it changed something: %v", changes)
	}
}

func TestAChecksThatNeedOneThatFailedAreSkipped(t *testing.T) {
	ran := ""
	result := func(name string, status Status) func(context.Context, *Subject) Result {
		return func(context.Context, *Subject) Result {
			ran += name
			return Result{Status: status}
		}
	}
	checks := []Check{
		{"a", nil, result("a", Failed)},
		{"b", []string{"a"}, result("b", Passed)},
		{"c", []string{"b"}, result("c", Passed)},
		{"d", nil, result("d", Warning)},
		{"e", []string{"d"}, result("e", Passed)},
	}
	told := ""
	results, err := Run(t.Context(), &Subject{}, checks, func(r Result) { told += r.Name })
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{
		{Name: "a", Status: Failed},
		{Name: "b", Status: Skipped, Found: "not looked at: it needs a"},
		{Name: "c", Status: Skipped, Found: "not looked at: it needs b"},
		{Name: "d", Status: Warning},
		{Name: "e", Status: Passed},
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if ran != "ade" || told != "abcde" {
		t.Errorf("ran %s, told %s", ran, told)
	}
	if n := Failures(results); n != 1 {
		t.Errorf("%d failures, want 1", n)
	}
}

func TestAnInterruptEndsTheChecks(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	checks := []Check{
		{"a", nil, func(context.Context, *Subject) Result { cancel(); return failed("cut off", "") }},
		{"b", nil, func(context.Context, *Subject) Result { t.Error("it went on"); return Result{} }},
	}
	_, err := Run(ctx, &Subject{}, checks, func(r Result) { t.Errorf("it told of %s", r.Name) })
	if err == nil {
		t.Error("no error")
	}
}

func TestEveryNeedIsACheckBefore(t *testing.T) {
	for _, way := range []target.Way{target.Direct, target.OLM, target.OpenShift, target.OLMv1} {
		before := map[string]bool{}
		for _, check := range For(way) {
			for _, need := range check.needs {
				if !before[need] {
					t.Errorf("%s: %s needs %s, which does not come before", way, check.Name, need)
				}
			}
			before[check.Name] = true
		}
		if before[olmCheck] != way.ByOLM() {
			t.Errorf("%s: OLM is looked for: %t", way, before[olmCheck])
		}
	}
}
