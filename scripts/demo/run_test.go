package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/internal/testing/command"
	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	page.Golden(t, filepath.Join("testdata", name), got, *update)
}

func bareRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tree.Git(t, dir, "init", "--bare", "--initial-branch=main")
	return dir
}

// checked returns a demo after its checks, and the output of the demo.
func checked(t *testing.T, method pipeline.Method, branch string, isNew bool) (*demo, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	d := newDemo(t, method)
	d.console = console{Out: out}
	d.Context, d.Config = "kind", &rest.Config{Host: "https://127.0.0.1:6443"}
	d.Revision, d.MemcachedImage, d.Architectures = branch, "docker.io/library/memcached:1.6.45", []string{"amd64", "arm64"}
	d.Git, d.Changes = &pipeline.Repository{Branch: branch, New: isNew}, []string{"a", "b", "c"}
	settings := object("v1", "ConfigMap", "argocd", "argocd-cm")
	settings.Object["data"] = map[string]any{"b": "2", "a": "1"}
	d.Objects = []*unstructured.Unstructured{
		settings, object("argoproj.io/v1alpha1", "Application", "argocd", "memcached-root"),
		object("argoproj.io/v1alpha1", "AppProject", "argocd", "memcached-root"), object("argoproj.io/v1alpha1", "AppProject", "argocd", "olm"),
	}
	return d, out
}

func TestThePlan(t *testing.T) {
	direct, printedDirect := checked(t, pipeline.Direct, "memcached-demo", true)
	olm, printedOLM := checked(t, pipeline.OLM, "main", false)
	if err := errors.Join(direct.print("plan"), olm.print("plan")); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan-direct.txt", printedDirect.String())
	golden(t, "plan-olm.txt", printedOLM.String())
}

func TestTheDemoContinuesOnlyAfterAYes(t *testing.T) {
	interrupt := errors.New("interrupt signal received")
	for name, tc := range map[string]struct {
		yes, terminal bool
		answer        string
		interrupt     error
		want          string // text in the error
	}{
		"by the flag":    {true, false, "", nil, ""},
		"yes":            {false, true, "y\n", nil, ""},
		"no terminal":    {false, false, "y\n", nil, "nothing was changed, because there is no terminal"},
		"no":             {false, true, "n\n", nil, "nothing was changed"},
		"half a yes":     {false, true, "ye\n", nil, "nothing was changed"},
		"a closed input": {false, true, "", nil, "nothing was changed"},
		"an interrupt":   {false, true, "wait", interrupt, "interrupt signal received; nothing was changed"},
	} {
		d, out := checked(t, pipeline.Direct, "main", false)
		d.console = console{In: strings.NewReader(tc.answer), Out: out, Terminal: tc.terminal}
		ctx, cancel := context.WithCancelCause(t.Context())
		if tc.interrupt != nil {
			d.console.In, _ = io.Pipe() // Nothing is typed.
			cancel(tc.interrupt)
		}
		err := d.ask(ctx, tc.yes)
		cancel(nil)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
		if asked := strings.Contains(out.String(), "Continue? [y/N]"); asked != (tc.terminal && !tc.yes) {
			t.Errorf("%s: asked: %t", name, asked)
		}
	}
}

func TestTheSampleHasSlots(t *testing.T) {
	d, dir := newDemo(t, pipeline.Direct), t.TempDir()
	err := errors.Join(d.Replace(dir), withSlots(dir), patchSample(dir, "/spec/memory", "128Mi"))
	objects, buildErr := kustomize.Objects(filepath.Join(dir, "gitops/samples"))
	want := "map[memory:128Mi size:3 slots:map[] terminationDelaySeconds:3]"
	if len(objects) != 2 || fmt.Sprint(objects[1].Object["spec"]) != want {
		t.Errorf("%v, errors %v, %v, want the spec %s", objects, err, buildErr, want)
	}
}

func TestWhatToTryNext(t *testing.T) {
	d, out := checked(t, pipeline.Direct, "memcached-demo", true)
	d.Published, d.Applied = true, true
	if err := d.print("next"); err != nil {
		t.Fatal(err)
	}
	golden(t, "next-current.txt", out.String())

	out.Reset()
	t.Setenv("SUDO_USER", "someone")
	t.Setenv("HOME", "/home/someone")
	d.Root = "/home/it's me/memcached-operator"
	d.Git.Dir = "/home/someone/.cache/memcached-operator/clusters/demo/worktree"
	d.Cluster = &local.Cluster{Name: "demo", Kubeconfig: "/home/someone/.cache/memcached-operator/kubeconfig", Kubectl: "/bin/kubectl"}
	if err := d.print("next"); err != nil {
		t.Fatal(err)
	}
	golden(t, "next-local.txt", out.String())
	shell := exec.CommandContext(t.Context(), "sh", "-c", "cd() { echo $1; }\n"+strings.Replace(out.String(), "What to try next:", "", 1)+"\n")
	// The shell finds only its builtins, because the PATH has no programs.
	shell.Env = []string{"HOME=/home/someone", "PATH=/nowhere"}
	said, _ := shell.Output()
	if want := d.Git.Dir + "\n" + d.Root + "\n"; string(said) != want {
		t.Errorf("the shell reads %q, want %q", said, want)
	}
}

func TestAnIncompleteRunSaysWhatToRemove(t *testing.T) {
	for name, applied := range map[string]bool{"remove-images.txt": false, "remove-all-but-branch.txt": true} {
		d, out := checked(t, pipeline.OLMv1, "main", false)
		d.Published, d.Applied = applied, applied
		cause := errors.New("no such host")
		if err := d.report(t.Context(), cause); !errors.Is(err, cause) {
			t.Errorf("error %v", err)
		}
		golden(t, name, out.String())
	}
}

func TestInvalidFlagsAreRefused(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"another cluster":                {[]string{"minikube"}, `unknown command "minikube"`},
		"a registry for a local cluster": {[]string{"local", "--registry", "r.example.org"}, "unknown flag: --registry"},
		"another format":                 {[]string{"current", "--output", "yaml"}, `--output "yaml": choose text, or json`},
		"json without --check-only":      {[]string{"current", "--output", "json"}, "--check-only"},
		"another install method":         {[]string{"current", "--method", "helm"}, `--method "helm"`},
		"no registry":                    {[]string{"current"}, `--registry ""`},
	}
	for name, tc := range tests {
		if _, err := command.Run(t, newCommand(), tc.args...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %s", name, err, tc.want)
		}
	}
}
