package main

import (
	"bytes"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var app = client.ObjectKey{Namespace: "deploy-test", Name: "app"}

// all is the verdict on every object of testdata/app.
func all(action string) map[string]string {
	return map[string]string{
		"namespace/deploy-test":                               action,
		"customresourcedefinition/widgets.deploy.example.com": action,
		"clusterrole/deploy-test":                             action,
		"configmap/deploy-test/config":                        action,
		"widget/deploy-test/sample":                           action,
		"deployment/deploy-test/app":                          action,
	}
}

func (l *live) mustApply(t *testing.T) {
	t.Helper()
	if stderr, _, code := l.run(t, "apply", "testdata/app"); code != 0 {
		t.Fatal(stderr)
	}
}

func TestApplyBringsKindsAndNamespacesBeforeTheirObjects(t *testing.T) {
	l := newLive(t)
	stderr, report, code := l.run(t, "apply", "testdata/app")
	if code != 0 {
		t.Fatal(stderr)
	}
	if diff := cmp.Diff(all("created"), report.actions()); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if first := report.Objects[0].Object; !strings.HasPrefix(first, "customresourcedefinition/") {
		t.Errorf("the first object is %s, not the CRD", first)
	}
}

func TestApplyAgainWritesNothing(t *testing.T) {
	l := newLive(t)
	l.mustApply(t)
	objects, err := build("testdata/app", overrides{})
	if err != nil {
		t.Fatal(err)
	}
	before := l.versions(t, objects)
	report := &reporter{out: io.Discard}
	if err := (&applyOptions{}).apply(t.Context(), l.cluster, objects, report); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all("unchanged"), document{Objects: report.verdicts}.actions()); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if n := l.writes.Load(); n != 0 {
		t.Errorf("%d write requests, want none", n)
	}
	if diff := cmp.Diff(before, l.versions(t, objects)); diff != "" {
		t.Errorf("resourceVersions (-before +after):\n%s", diff)
	}
}

func TestApplyRefusesToTakeOver(t *testing.T) {
	l := newLive(t)
	l.foreignNamespace(t)
	stderr, _, code := l.run(t, "apply", "testdata/app")
	if code != exitFailed || !strings.Contains(stderr, "namespace/deploy-test (set by somebody)") {
		t.Errorf("exit code %d, error: %s", code, stderr)
	}
	var crd unstructured.Unstructured
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	if err := l.Get(t.Context(), client.ObjectKey{Name: "widgets.deploy.example.com"}, &crd); err == nil {
		t.Error("the CRD was written, although the apply was refused")
	}
	if stderr, report, code := l.run(t, "apply", "testdata/app", "--adopt"); code != 0 {
		t.Errorf("with --adopt: %s", stderr)
	} else if got := report.actions()["deployment/deploy-test/app"]; got != "created" {
		t.Errorf("with --adopt the deployment is %q", got)
	}
}

func TestApplyThatDoesNotGetReadySaysWhatIsMissing(t *testing.T) {
	l := newLive(t)
	l.mustApply(t)
	l.patch(t, &appsv1.Deployment{}, `{"metadata":{"annotations":{"test":"stuck"}}}`)
	stderr, _, code := l.run(t, "apply", "testdata/app", "--timeout=4s", "--set-env=manager/A=b")
	if code != exitFailed || !strings.Contains(stderr, "deployment/deploy-test/app: Deployment generation is") {
		t.Errorf("exit code %d, error: %s", code, stderr)
	}
	if _, _, code := l.run(t, "apply", "testdata/app", "--no-wait", "--set-env=manager/A=b"); code != 0 {
		t.Errorf("with --no-wait the exit code is %d", code)
	}
}

func TestDiffNamesTheFieldThatDrifted(t *testing.T) {
	l := newLive(t)
	if stderr, report, code := l.run(t, "diff", "testdata/app"); code != exitDiffers {
		t.Errorf("before the first apply: exit code %d: %s", code, stderr)
	} else if diff := cmp.Diff(all("created"), report.actions()); diff != "" {
		t.Errorf("before the first apply (-want +got):\n%s", diff)
	}
	l.mustApply(t)
	if stderr, report, code := l.run(t, "diff", "testdata/app"); code != 0 {
		t.Errorf("after an apply: exit code %d: %s\n%+v", code, stderr, report)
	}
	l.patch(t, &appsv1.Deployment{}, `{"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"proxy","image":"by-hand:1"}]}}}}`)
	_, report, code := l.run(t, "diff", "testdata/app")
	if code != exitDiffers {
		t.Errorf("after the drift: exit code %d", code)
	}
	want := verdict{Object: "deployment/deploy-test/app", Action: "configured", Fields: []fieldChange{
		{Path: ".spec.replicas", From: 2.0, To: 1.0},
		{
			Path: `.spec.template.spec.containers[name="proxy"].image`,
			From: "by-hand:1", To: "registry.example.com/proxy:1.0.0",
		},
	}}
	if diff := cmp.Diff([]verdict{want}, changed(report)); diff != "" {
		t.Errorf("what differs (-want +got):\n%s", diff)
	}
}

func TestDeleteRemovesOursAndKeepsTheForeign(t *testing.T) {
	l := newLive(t)
	l.foreignNamespace(t)
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config", Namespace: "deploy-test"}}
	if err := l.Create(t.Context(), foreign, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.deleteNow(t, foreign) })
	objects, err := build("testdata/app", overrides{})
	if err != nil {
		t.Fatal(err)
	}
	ours := objects[:0:0]
	for _, o := range objects {
		if kind := o.GetKind(); kind != "ConfigMap" && kind != "Namespace" {
			ours = append(ours, o)
		}
	}
	if err := (&applyOptions{noWait: true}).apply(t.Context(), l.cluster, ours, &reporter{out: io.Discard}); err != nil {
		t.Fatal(err)
	}
	stderr, report, code := l.run(t, "delete", "testdata/app")
	if code != 0 {
		t.Fatal(stderr)
	}
	want := all("deleted")
	maps.Copy(want, map[string]string{"configmap/deploy-test/config": "kept", "namespace/deploy-test": "kept"})
	if diff := cmp.Diff(want, report.actions()); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if err := l.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil {
		t.Errorf("the foreign object: %v", err)
	}
	if _, report, _ := l.run(t, "delete", "testdata/app"); report.actions()["deployment/deploy-test/app"] != "absent" {
		t.Errorf("a second delete: %+v", report)
	}
}

func TestDeleteDoesNotTakeCustomResourcesOfOthersAlong(t *testing.T) {
	l := newLive(t)
	l.mustApply(t)
	other := &unstructured.Unstructured{}
	other.SetAPIVersion("deploy.example.com/v1")
	other.SetKind("Widget")
	other.SetName("of-a-user")
	other.SetNamespace("default")
	if err := l.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	stderr, _, code := l.run(t, "delete", "testdata/app")
	if code != exitFailed || !strings.Contains(stderr, "widget/default/of-a-user") || !strings.Contains(stderr, "--cascade") {
		t.Errorf("exit code %d, error: %s", code, stderr)
	}
	if err := l.Get(t.Context(), app, &appsv1.Deployment{}); err != nil {
		t.Errorf("the refused delete was not refused as a whole: %v", err)
	}
}

func TestAClusterThatIsNotThereIsNamed(t *testing.T) {
	var out, stderr bytes.Buffer
	code := run(t.Context(), []string{"wait", "testdata/app", "--kubeconfig", "testdata/nowhere"}, &out, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "testdata/nowhere") {
		t.Errorf("exit code %d, error: %s", code, stderr.String())
	}
}

func (l *live) foreignNamespace(t *testing.T) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "deploy-test"}}
	if err := l.Create(t.Context(), namespace, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.deleteNow(t, namespace) })
}

func (l *live) patch(t *testing.T, o client.Object, patch string) {
	t.Helper()
	o.SetNamespace(app.Namespace)
	o.SetName(app.Name)
	raw := client.RawPatch(types.StrategicMergePatchType, []byte(patch))
	if err := l.Patch(t.Context(), o, raw, client.FieldOwner("by-hand")); err != nil {
		t.Fatal(err)
	}
}

func (l *live) versions(t *testing.T, objects []*unstructured.Unstructured) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, o := range objects {
		found, err := l.cluster.find(t.Context(), o)
		if err != nil || found == nil {
			t.Fatalf("%s: %v", nameOf(o), err)
		}
		versions[nameOf(o)] = found.GetResourceVersion()
	}
	return versions
}

func changed(report document) []verdict {
	var changed []verdict
	for _, v := range report.Objects {
		if v.Action != "unchanged" {
			changed = append(changed, v)
		}
	}
	return changed
}
