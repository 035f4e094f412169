package current

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

func TestNothingIsChangedBeforeTheAnswerIsYes(t *testing.T) {
	tests := map[string]struct {
		change   func(*Options)
		terminal bool
		answer   string
		want     string // error
		asked    bool
	}{
		"there is nobody to ask":      {func(*Options) {}, false, "y\n", "there is no terminal to ask at; with --yes", false},
		"the answer is no":            {func(*Options) {}, true, "n\n", "you did not say yes: nothing was changed", true},
		"the answer is nothing":       {func(*Options) {}, true, "\n", "you did not say yes: nothing was changed", true},
		"the answer is half a yes":    {func(*Options) {}, true, "ye\n", "you did not say yes: nothing was changed", true},
		"the terminal is closed":      {func(*Options) {}, true, "", "you did not say yes: nothing was changed", true},
		"only the checks were wanted": {func(o *Options) { o.CheckOnly, o.Yes = true, true }, true, "y\n", "", false},
		"a check fails, and yes was said before": {func(o *Options) { o.Registry, o.Yes = "127.0.0.1:1", true }, true, "y\n",
			"nothing was changed: 1 of these checks failed", false},
		"an option is wrong": {func(o *Options) { o.Way, o.Yes = "helm", true }, true, "y\n", "--method", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, target.Direct)
			tc.change(&w.Options)
			var out bytes.Buffer
			err := Run(t.Context(), w.Options, Console{In: strings.NewReader(tc.answer), Out: &out, Terminal: tc.terminal})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q\n%s", err, tc.want, &out)
			}
			if asked := strings.Contains(out.String(), "Go on? [y/N]"); asked != tc.asked {
				t.Errorf("asked: %t\n%s", asked, &out)
			}
			if tc.want == "--method" {
				return // It did not come to a request.
			}
			w.expectUntouched(t)
		})
	}
}

func TestAnInterruptAtTheQuestionChangesNothing(t *testing.T) {
	w := newWorld(t, target.Direct)
	ctx, cancel := context.WithCancelCause(t.Context())
	keyboard, _ := io.Pipe() // Nobody ever types anything.
	out := &interrupting{at: "[y/N]", by: func() { cancel(errors.New("interrupt signal received")) }}
	err := Run(ctx, w.Options, Console{In: keyboard, Out: out, Terminal: true})
	if want := "interrupt signal received; nothing was changed"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	w.expectUntouched(t)
}

// interrupting is an output that interrupts when something is written to it.
type interrupting struct {
	bytes.Buffer
	at string
	by func()
}

func (i *interrupting) Write(p []byte) (int, error) {
	n, err := i.Buffer.Write(p)
	if strings.Contains(i.String(), i.at) {
		i.by()
	}
	return n, err
}

func TestWhatTheChecksFindIsThereForMachines(t *testing.T) {
	w := newWorld(t, target.OpenShift)
	w.CheckOnly, w.JSON = true, true
	var out bytes.Buffer
	if err := Run(t.Context(), w.Options, Console{Out: &out}); err == nil {
		t.Error("no error, although OLM is missing")
	}
	var report struct {
		Checks []struct{ Name, Status, Found, Remedy string }
		Failed int
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	failed := map[string]string{}
	for _, check := range report.Checks {
		if check.Status == "failed" {
			failed[check.Name] = check.Remedy
		}
	}
	want := map[string]string{"OLM": "choose --method olm, which installs OLM"}
	if diff := cmp.Diff(want, failed); diff != "" || report.Failed != 1 {
		t.Errorf("failed %d (-want +got):\n%s", report.Failed, diff)
	}
	w.expectUntouched(t)
}

// TestWhatWasDoneIsToldWhenItCannotBeFinished runs the demo on a cluster in which nobody syncs Applications.
func TestWhatWasDoneIsToldWhenItCannotBeFinished(t *testing.T) {
	w := newWorld(t, target.OLM)
	w.Yes, w.Timeout = true, 2*time.Second
	t.Cleanup(func() { removeApplied(t) })

	out, err := w.run(t)
	if err == nil || !strings.Contains(err.Error(), "after 2s (--timeout)") || !strings.Contains(err.Error(), "memcached-root is Unknown") {
		t.Errorf("error %v", err)
	}
	commit := w.read(t, "rev-parse", "memcached-demo")
	for _, want := range []string{
		"Done so far:", "pushed " + w.Registry + "/memcached-operator-catalog:demo",
		fmt.Sprintf("pushed commit %.7s to the branch memcached-demo", commit),
		"applied the settings of Argo CD in argocd", "applied AppProjects and the Application memcached-root in argocd",
		"delete application memcached-root", "git push file://" + w.git + " --delete memcached-demo",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not tell: %s\n%s", want, out)
		}
	}
	images := []string{"team/memcached-agent", "team/memcached-client", "team/memcached-operator", "team/memcached-operator-bundle", "team/memcached-operator-catalog"}
	if diff := cmp.Diff(images, slices.Sorted(slices.Values(w.images(t)))); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	w.expectCommit(t)
	expectApplied(t, w.Repo)

	t.Run("and the same command goes on without another commit", func(t *testing.T) {
		if _, err := w.run(t); err == nil || !strings.Contains(err.Error(), "after 2s") {
			t.Errorf("error %v", err)
		}
		if again := w.read(t, "rev-parse", "memcached-demo"); again != commit {
			t.Errorf("commit %s, want %s", again, commit)
		}
	})
}

func (w *world) run(t *testing.T) (string, error) {
	t.Helper()
	var out bytes.Buffer
	ctx := progress.WithOutput(t.Context(), io.Discard)
	err := Run(ctx, w.Options, Console{Out: &out})
	return out.String(), err
}

// expectCommit checks that Git has the settings, with the images by digest, and the catalog that was pushed.
func (w *world) expectCommit(t *testing.T) {
	t.Helper()
	var settings corev1.ConfigMap
	if err := yaml.Unmarshal([]byte(w.read(t, "show", "memcached-demo:gitops/settings/settings.yaml")), &settings); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"repoURL": w.Repo, "revision": "memcached-demo", "argocdNamespace": "argocd",
		"architecture": oci.Host().Architecture, "memcachedImage": "r.example.org/memcached:1",
		"operatorImage": w.digest(t, "memcached-operator"), "agentImage": w.digest(t, "memcached-agent"), "catalogImage": w.digest(t, "memcached-operator-catalog"),
	}
	if diff := cmp.Diff(want, settings.Data); diff != "" {
		t.Errorf("settings in Git (-want +got):\n%s", diff)
	}
	catalog := w.read(t, "show", "memcached-demo:bundle/catalog/memcached-operator/catalog.yaml")
	for _, part := range []string{w.digest(t, "memcached-operator-bundle"), "memcached-operator.v" + target.Version} {
		if !strings.Contains(catalog, part) {
			t.Errorf("the catalog lacks %s", part)
		}
	}
	csv := w.read(t, "show", "memcached-demo:bundle/manifests/memcached-operator.clusterserviceversion.yaml")
	for _, part := range []string{w.digest(t, "memcached-operator"), "value: r.example.org/memcached:1", "value: " + w.digest(t, "memcached-agent")} {
		if !strings.Contains(csv, part) {
			t.Errorf("the bundle lacks %s", part)
		}
	}
}

// digest is the reference of a pushed image by its digest.
func (w *world) digest(t *testing.T, image string) string {
	t.Helper()
	ref, err := oci.Digest(t.Context(), w.Registry+"/"+image+":demo")
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// expectApplied checks what is in the cluster.
func expectApplied(t *testing.T, repo string) {
	t.Helper()
	root := demotest.Object("argoproj.io/v1alpha1", "Application", "argocd", "memcached-root")
	if err := server.Client.Get(t.Context(), client.ObjectKeyFromObject(root), root); err != nil {
		t.Fatal(err)
	}
	source, _, _ := unstructured.NestedStringMap(root.Object, "spec", "source")
	want := map[string]string{"repoURL": repo, "targetRevision": "memcached-demo", "path": "gitops/apps/overlays/olm"}
	if diff := cmp.Diff(want, source); diff != "" {
		t.Errorf("source of the root Application (-want +got):\n%s", diff)
	}
	settings := demotest.ArgoCDSettings("argocd", nil)
	if err := server.Client.Get(t.Context(), client.ObjectKeyFromObject(settings), settings); err != nil {
		t.Fatal(err)
	}
	if got := settings.Data["application.resourceTrackingMethod"]; got != "annotation" {
		t.Errorf("Argo CD tracks by %q", got)
	}
}

// removeApplied removes what a demo has applied.
func removeApplied(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, kind := range []string{"Application", "AppProject"} {
		objects := &unstructured.UnstructuredList{}
		objects.SetAPIVersion("argoproj.io/v1alpha1")
		objects.SetKind(kind + "List")
		if err := server.Client.List(ctx, objects); err != nil {
			t.Fatal(err)
		}
		for _, object := range objects.Items {
			object.SetFinalizers(nil)
			if err := errors.Join(server.Client.Update(ctx, &object), server.Client.Delete(ctx, &object)); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		}
	}
	settings := demotest.ArgoCDSettings("argocd", nil)
	if err := errors.Join(server.Client.Delete(ctx, settings), server.Create(ctx, demotest.ArgoCDSettings("argocd", nil))); err != nil {
		t.Error(err)
	}
}
