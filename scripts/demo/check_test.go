package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
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

// newDemo returns a demo on a cluster that has these objects.
func newDemo(t *testing.T, method pipeline.Method, objects ...client.Object) *demo {
	t.Helper()
	root, err := builds.Root()
	if err != nil {
		t.Fatal(err)
	}
	choices := values.Choices{
		Revision: pipeline.Branch, ArgoCDNamespace: "argocd", Architecture: "amd64",
		Registry: "registry.example.org/team", Repo: "https://git.example.org/team/x.git",
	}
	d := &demo{console: console{Out: io.Discard}}
	d.Pipeline = &pipeline.Pipeline{Root: root, Target: pipeline.Target{Method: method, Choices: choices}}
	d.Client = fake.NewClientBuilder().WithObjects(objects...).WithIndex(&appsv1.Deployment{}, "metadata.name",
		func(o client.Object) []string { return []string{o.GetName()} }).Build()
	return d
}

// answers collects the results of one check in several cases, as users see them.
type answers struct{ bytes.Buffer }

func (a *answers) add(name string, r result) {
	r.Name = name
	printResult(a, r)
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

// argoCD returns the ConfigMap of an Argo CD, and the Pod of its application controller.
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
	var out answers
	several := append(argoCD("one", corev1.ConditionTrue), argoCD("two", corev1.ConditionTrue)...)
	ready := argoCD("argocd", corev1.ConditionTrue)
	for _, tc := range []struct {
		name, namespace string // the value of the flag
		objects         []client.Object
	}{
		{"none", "", nil},
		{"not there", "other", several},
		{"two", "", several},
		{"chosen", "two", several},
		{"no controller", "", argoCD("argocd", "")},
		{"not ready", "", argoCD("argocd", corev1.ConditionFalse)},
		{"ready", "", ready},
		{"by argocd-operator", "", append(ready, object("argoproj.io/v1beta1", "ArgoCD", "argocd", "gitops"))},
	} {
		d := newDemo(t, pipeline.Direct, tc.objects...)
		d.ArgoCDNamespace = tc.namespace
		out.add(tc.name, d.checkArgoCD(t.Context()))
		if (tc.name == "by argocd-operator") != (d.ArgoCDName == "gitops") {
			t.Errorf("%s: the ArgoCD resource is %q", tc.name, d.ArgoCDName)
		}
	}
	golden(t, "argocd.txt", out.String())
}

func TestTheGitRepository(t *testing.T) {
	it := gomega.NewWithT(t)
	var out answers
	const other, settings = "gitops/samples/kustomization.yaml", "gitops/settings/settings.yaml"
	repositories := t.TempDir()
	for i, tc := range []struct {
		name                  string
		method                pipeline.Method
		branch, message, file string // a commit with this message changes the file on the branch
	}{
		{"empty", pipeline.Direct, "", "", ""},
		{"other branches", pipeline.Direct, "main", "x", other},
		{"the branch", pipeline.Direct, pipeline.Branch, "x", settings},
		{"another file there", pipeline.Direct, pipeline.Branch, "x", other},
		{"a demo's commit", pipeline.Direct, pipeline.Branch, "x\n\n" + trailer, other},
		{"perhaps a bundle", pipeline.OLM, pipeline.Branch, "x", settings},
		{"unreadable", pipeline.Direct, "none", "", ""},
	} {
		d := newDemo(t, tc.method)
		d.Repo = "file://" + bareRepository(t)
		if tc.file != "" {
			r, err := pipeline.Open(t.Context(), d.Repo, tc.branch, filepath.Join(t.TempDir(), "clone"))
			it.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = r.Commit(t.Context(), tc.message, func(dir string) error {
				return errors.Join(d.Replace(dir), os.WriteFile(filepath.Join(dir, tc.file), []byte("other"), 0o600))
			})
			it.Expect(err).NotTo(gomega.HaveOccurred())
		}
		if tc.branch == "none" {
			d.Repo += "/nowhere"
		}
		r := d.checkGit(t.Context(), filepath.Join(repositories, fmt.Sprint(i)))
		r.Found, _, _ = strings.Cut(strings.ReplaceAll(r.Found, d.Repo, "REPO"), " fatal:")
		out.add(tc.name, r)
		if (d.Git != nil) != (r.Status == passed) {
			t.Errorf("%s: the work tree is %v", tc.name, d.Git)
		}
	}
	golden(t, "git.txt", out.String())
}

var methods = []pipeline.Method{pipeline.Direct, pipeline.OLM, pipeline.OpenShift, pipeline.OLMv1}

func TestAnOperatorThatIsInstalled(t *testing.T) {
	var out answers
	manager := func(namespace, label, value, application string) client.Object {
		m := &appsv1.Deployment{ObjectMeta: named(namespace, "memcached-operator-controller-manager")}
		m.Labels, m.Annotations = map[string]string{label: value}, map[string]string{"argocd.argoproj.io/tracking-id": application + ":x"}
		return m
	}
	const here = pipeline.OperatorNamespace
	for _, there := range []client.Object{
		&corev1.Pod{ObjectMeta: named("x", "x")},
		manager(here, "", "", "memcached-operator"),
		manager(here, "", "", "other"),
		manager(here, "olm.owner.kind", "ClusterServiceVersion", ""),
		manager(here, "olm.operatorframework.io/owner-kind", "ClusterExtension", ""),
		manager("elsewhere", "", "", "memcached-operator"),
	} {
		for _, method := range methods {
			out.add(string(method), newDemo(t, method, there).checkOperator(t.Context()))
		}
	}
	golden(t, "operator.txt", out.String())
}

func TestOLM(t *testing.T) {
	var out answers
	for _, name := range []string{"other", "subscriptions.operators.coreos.com", "clusterextensions.olm.operatorframework.io"} {
		for _, options := range []string{"", "Prune=false,Delete=false"} { // installed by the owner, or by the demo
			crd := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)
			crd.SetAnnotations(map[string]string{"argocd.argoproj.io/sync-options": options})
			fmt.Fprintln(&out, name, cmp.Or(options, "of the cluster"))
			for _, method := range methods[1:] {
				out.add(string(method), newDemo(t, method, crd).checkOLM(t.Context()))
			}
		}
	}
	golden(t, "olm.txt", out.String())
}

func TestTheObjectsAreAppliedByADryRun(t *testing.T) {
	var out answers
	root := object("argoproj.io/v1alpha1", "Application", "argocd", pipeline.RootApplication)
	root.Object["spec"] = map[string]any{"source": map[string]any{
		"repoURL": "https://git.example.org/prod.git", "targetRevision": "main", "path": "x",
	}}
	deleted := root.DeepCopy()
	deleted.SetFinalizers([]string{"resources-finalizer.argocd.argoproj.io"})
	deleted.SetDeletionTimestamp(new(metav1.Now()))
	for _, tc := range []struct {
		name    string
		objects []client.Object
		answer  error // error of the API server
	}{
		{"accepted", nil, nil},
		{"forbidden", nil, apierrors.NewForbidden(schema.GroupResource{Resource: "objects"}, "x", nil)},
		{"in conflict", nil, apierrors.NewApplyConflict(nil, `conflict with "helm": .data.x`)},
		{"another demo", []client.Object{root}, nil},
		{"being deleted", []client.Object{deleted}, nil},
	} {
		d := newDemo(t, pipeline.Direct, tc.objects...)
		d.Repo = "file://" + bareRepository(t)
		d.Client = interceptor.NewClient(d.Client, interceptor.Funcs{
			Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, options ...client.ApplyOption) error {
				if applied := (&client.ApplyOptions{}).ApplyOptions(options); len(applied.DryRun) == 0 || applied.Force != nil {
					t.Errorf("%s: dry run %v, force %v", tc.name, applied.DryRun, applied.Force)
				}
				return tc.answer
			},
		})
		if r := d.checkGit(t.Context(), filepath.Join(t.TempDir(), "clone")); r.Status != passed {
			t.Fatal(r)
		}
		out.add(tc.name, d.checkObjects(t.Context()))
	}
	golden(t, "objects.txt", out.String())
}

func TestAFailedCheckSkipsThoseThatNeedIt(t *testing.T) {
	result := func(r result) func(context.Context) result { return func(context.Context) result { return r } }
	checks := []check{
		{"one", "", result(pass("ok"))},
		{"two", "one", result(fail("bad", "repair it:\nkubectl"))},
		{"three", "two", result(pass("ok"))},
		{"four", "three", result(pass("ok"))},
		{"five", "one", result(pass("ok"))},
	}
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		d := &demo{console: console{Out: &out}}
		if err := d.check(t.Context(), checks, format); err == nil || !strings.Contains(err.Error(), "1 of these checks failed") {
			t.Errorf("error %v", err)
		}
		golden(t, "checks."+strings.Replace(format, "text", "txt", 1), out.String())
	}
}
