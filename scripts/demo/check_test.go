package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

// newDemo is a demo on a cluster of these objects.
func newDemo(t *testing.T, method pipeline.Method, objects ...client.Object) *demo {
	t.Helper()
	root, err := builds.Root()
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{console: console{Out: io.Discard}, Pipeline: &pipeline.Pipeline{Root: root, Target: pipeline.Target{Method: method, Choices: values.Choices{
		Revision: pipeline.Branch, ArgoCDNamespace: "argocd", Architecture: "amd64",
		Registry: "registry.example.org/team", Repo: "https://git.example.org/team/x.git",
	}}}}
	d.Client = fake.NewClientBuilder().WithObjects(objects...).WithIndex(&appsv1.Deployment{}, "metadata.name",
		func(o client.Object) []string { return []string{o.GetName()} }).Build()
	return d
}

func expect(t *testing.T, got result, want status, words ...string) {
	t.Helper()
	text := got.Found + "\n" + got.Fix
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("has no %q:\n%s", word, text)
		}
	}
	if got.Status != want || (got.Fix == "") != (want == passed || want == skipped) {
		t.Errorf("%s, want %s:\n%s", got.Status, want, text)
	}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// argoCD is the ConfigMap of an Argo CD, and the Pod of its application controller.
func argoCD(namespace string, ready corev1.ConditionStatus) []client.Object {
	settings := &corev1.ConfigMap{ObjectMeta: named(namespace, "argocd-cm")}
	settings.Labels = map[string]string{"app.kubernetes.io/part-of": "argocd"}
	if ready == "" {
		return []client.Object{settings}
	}
	return []client.Object{settings, &corev1.Pod{
		ObjectMeta: named(namespace, "argocd-application-controller-0"),
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "quay.io/argoproj/argocd:v3.5.7"}}},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}}
}

func TestArgoCD(t *testing.T) {
	several := append(argoCD("one", corev1.ConditionTrue), argoCD("two", corev1.ConditionTrue)...)
	tests := map[string]struct {
		namespace string // by the flag
		objects   []client.Object
		status    status
		words     []string
	}{
		"is not installed":             {"", nil, failed, []string{"no namespace has", "kubectl apply --server-side -k gitops/bootstrap/argocd/operator"}},
		"is not in the namespace":      {"other", several, failed, []string{"no namespace has"}},
		"is installed twice":           {"", several, failed, []string{"one, two", "--argocd-namespace"}},
		"is chosen by its namespace":   {"two", several, passed, []string{"in the namespace two, quay.io/argoproj/argocd:v3.5.7"}},
		"has no controller":            {"", argoCD("argocd", ""), warning, []string{"without an application controller"}},
		"has a controller not ready":   {"", argoCD("argocd", corev1.ConditionFalse), failed, []string{"not ready", "kubectl -n argocd describe pod"}},
		"is ready":                     {"", argoCD("argocd", corev1.ConditionTrue), passed, []string{"in the namespace argocd"}},
		"is ready, by argocd-operator": {"", append(argoCD("argocd", corev1.ConditionTrue), object("argoproj.io/v1beta1", "ArgoCD", "argocd", "gitops")), passed, nil},
	}
	for name, tc := range tests {
		d := newDemo(t, pipeline.Direct, tc.objects...)
		d.ArgoCDNamespace = tc.namespace
		expect(t, d.checkArgoCD(t.Context()), tc.status, tc.words...)
		if byOperator := strings.Contains(name, "argocd-operator"); byOperator != (d.ArgoCDName == "gitops") {
			t.Errorf("%s: the ArgoCD resource is %q", name, d.ArgoCDName)
		}
	}
}

func TestTheGitRepository(t *testing.T) {
	const other, settings = "gitops/samples/kustomization.yaml", "gitops/settings/settings.yaml"
	tests := map[string]struct {
		method                pipeline.Method
		branch, message, file string // of a commit in the repository, that changes the file
		status                status
		word                  string
	}{
		"is empty":                     {pipeline.Direct, "", "", "", passed, "new branch memcached-demo"},
		"has other branches":           {pipeline.Direct, "main", "x", other, passed, "new branch memcached-demo"},
		"has the branch as it is here": {pipeline.Direct, pipeline.Branch, "x", settings, passed, "on top of the branch"},
		"has another file there":       {pipeline.Direct, pipeline.Branch, "x", other, failed, other},
		"has a demo's commit there":    {pipeline.Direct, pipeline.Branch, "x\n\n" + trailer, other, passed, "on top of the branch"},
		"may have a bundle there":      {pipeline.OLM, pipeline.Branch, "x", settings, failed, "bundle/"},
		"cannot be read":               {pipeline.Direct, "none", "", "", failed, "git ls-remote"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t, tc.method)
			d.Repo = "file://" + bareRepository(t)
			if tc.file != "" {
				r, err := pipeline.Open(t.Context(), d.Repo, tc.branch, filepath.Join(t.TempDir(), "clone"))
				if err != nil {
					t.Fatal(err)
				}
				_, err = r.Commit(t.Context(), tc.message, func(dir string) error {
					return errors.Join(d.Replace(dir), os.WriteFile(filepath.Join(dir, tc.file), []byte("other"), 0o600))
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if tc.branch == "none" {
				d.Repo += "/nowhere"
			}
			expect(t, d.checkGit(t.Context(), filepath.Join(t.TempDir(), "clone")), tc.status, tc.word)
			if (d.Git != nil) != (tc.status == passed) {
				t.Errorf("the work tree is %v", d.Git)
			}
		})
	}
}

func TestAnOperatorThatIsInstalled(t *testing.T) {
	manager := func(namespace, label, value, application string) client.Object {
		m := &appsv1.Deployment{ObjectMeta: named(namespace, "memcached-operator-controller-manager")}
		m.Labels, m.Annotations = map[string]string{label: value}, map[string]string{"argocd.argoproj.io/tracking-id": application + ":x"}
		return m
	}
	const here, v0, v1 = pipeline.OperatorNamespace, "olm.owner.kind", "olm.operatorframework.io/owner-kind"
	tests := map[string]struct {
		there client.Object
		want  [4]status // for direct, olm, openshift, olm-v1
	}{
		"not installed yet":    {&corev1.Pod{ObjectMeta: named("x", "x")}, [4]status{passed, passed, passed, passed}},
		"installed by Argo CD": {manager(here, "", "", "memcached-operator"), [4]status{passed, failed, failed, failed}},
		"installed by kubectl": {manager(here, "", "", "other"), [4]status{warning, failed, failed, failed}},
		"installed by OLM v0":  {manager(here, v0, "ClusterServiceVersion", ""), [4]status{failed, passed, passed, failed}},
		"installed by OLM v1":  {manager(here, v1, "ClusterExtension", ""), [4]status{failed, failed, failed, passed}},
		"runs in elsewhere":    {manager("elsewhere", "", "", "memcached-operator"), [4]status{failed, failed, failed, failed}},
	}
	for found, tc := range tests {
		for i, method := range []pipeline.Method{pipeline.Direct, pipeline.OLM, pipeline.OpenShift, pipeline.OLMv1} {
			expect(t, newDemo(t, method, tc.there).checkOperator(t.Context()), tc.want[i], found)
		}
	}
}

func TestOLM(t *testing.T) {
	crd := func(name, options string) client.Object {
		o := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
		o.SetAnnotations(map[string]string{"argocd.argoproj.io/sync-options": options})
		return o
	}
	const subscriptions, extensions, keep = "subscriptions.operators.coreos.com", "clusterextensions.olm.operatorframework.io", "Prune=false,Delete=false"
	tests := map[string]struct {
		method pipeline.Method
		there  client.Object
		status status
		word   string
	}{
		"is installed by the demo":     {pipeline.OLM, crd("other", ""), passed, "not installed yet"},
		"was installed by the demo":    {pipeline.OLM, crd(subscriptions, keep), passed, "installed"},
		"belongs to the cluster":       {pipeline.OLM, crd(subscriptions, ""), failed, "--method openshift"},
		"is needed":                    {pipeline.OpenShift, crd("other", ""), failed, "--method olm"},
		"is needed, and installed":     {pipeline.OpenShift, crd(subscriptions, ""), passed, "installed"},
		"v1 belongs to the cluster":    {pipeline.OLMv1, crd(extensions, ""), failed, "another method"},
		"v0 does not matter to OLM v1": {pipeline.OLMv1, crd(subscriptions, ""), passed, "not installed yet"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			expect(t, newDemo(t, tc.method, tc.there).checkOLM(t.Context()), tc.status, tc.word)
		})
	}
}

func TestTheObjectsAreAppliedByADryRun(t *testing.T) {
	root := object("argoproj.io/v1alpha1", "Application", "argocd", pipeline.RootApplication)
	root.Object["spec"] = map[string]any{"source": map[string]any{"repoURL": "https://git.example.org/prod.git"}}
	deleted := root.DeepCopy()
	deleted.SetFinalizers([]string{"resources-finalizer.argocd.argoproj.io"})
	deleted.SetDeletionTimestamp(new(metav1.Now()))
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "argocd-cm", nil)
	tests := map[string]struct {
		objects []client.Object
		answer  error // of the API server
		status  status
		words   []string
	}{
		"and accepted":  {nil, nil, passed, []string{"accepts all"}},
		"and forbidden": {nil, forbidden, failed, []string{"ConfigMap argocd-cm", "forbidden", "request the rights"}},
		"and in conflict": {nil, apierrors.NewApplyConflict(nil, `conflict with "helm": .data.x`), failed,
			[]string{`"helm": .data.x`, "gitops/bootstrap"}},
		"unless another demo is installed": {[]client.Object{root}, nil, failed,
			[]string{"prod.git", "kubectl -n argocd delete application memcached-root"}},
		"unless one is being deleted": {[]client.Object{deleted}, nil, failed, []string{"being deleted", "wait"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDemo(t, pipeline.Direct, tc.objects...)
			d.Repo = "file://" + bareRepository(t)
			d.Client = interceptor.NewClient(d.Client, interceptor.Funcs{
				Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, options ...client.ApplyOption) error {
					if applied := (&client.ApplyOptions{}).ApplyOptions(options); len(applied.DryRun) == 0 || applied.Force != nil {
						t.Errorf("applied by %v", applied)
					}
					return tc.answer
				},
			})
			if tc.objects == nil {
				expect(t, d.checkGit(t.Context(), filepath.Join(t.TempDir(), "clone")), passed)
			}
			expect(t, d.checkObjects(t.Context()), tc.status, tc.words...)
		})
	}
}

func TestChecksSkipWhatNeedsAFailedOne(t *testing.T) {
	d := newDemo(t, pipeline.OpenShift)
	ok := func(context.Context) result { return pass("ok") }
	bad := func(context.Context) result { return fail("bad", "repair it:\nkubectl") }
	checks := []check{{"one", "", ok}, {"two", "", bad}, {"three", "two", ok}, {"four", "three", ok}, {"five", "one", ok}}
	var out bytes.Buffer
	d.console.Out = &out
	err := d.check(t.Context(), checks, "text")
	if err == nil || !strings.Contains(err.Error(), "1 of these checks failed") {
		t.Errorf("error %v", err)
	}
	golden(t, "checks.txt", out.String())
	out.Reset()
	if err := d.check(t.Context(), checks, "json"); err == nil {
		t.Error("no error")
	}
	golden(t, "checks.json", out.String())
}
