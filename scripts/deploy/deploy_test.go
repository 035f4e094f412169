package main

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/command"
	"github.com/example-inc/memcached-operator/internal/testing/nodes"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

const dir = "testdata/app"

// each returns the same expected action for every object of testdata/app.
func each(action string) map[string]string {
	return map[string]string{
		"Namespace/deploy-test":                               action,
		"CustomResourceDefinition/widgets.deploy.example.com": action,
		"ClusterRole/deploy-test":                             action,
		"ConfigMap/deploy-test/config":                        action,
		"Widget/deploy-test/sample":                           action,
		"Deployment/deploy-test/app":                          action,
	}
}

// TestTheLifeOfADeployment applies, changes and deletes testdata/app on an API server.
func TestTheLifeOfADeployment(t *testing.T) {
	l := newLive(t)
	steps := []struct {
		name string
		run  func(*testing.T, *live)
	}{
		{"an apply over the object of another client writes nothing", applyOverUnowned},
		{"an apply creates kinds and namespaces before their objects", firstApply},
		{"an unchanged apply writes nothing", unchangedApply},
		{"an apply reverts a change by another client", revertedChange},
		{"an apply that does not become ready reports why", stuckApply},
		{"a delete is refused for a user's custom resources", refusedDelete},
		{"a delete keeps the objects of other clients", deleteKeepsUnowned},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, l) }) {
			t.FailNow()
		}
	}
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func applyOverUnowned(t *testing.T, l *live) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "deploy-test"}}
	if err := l.Create(t.Context(), namespace, client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
	l.fails(t, []string{"Namespace/deploy-test (field manager: another)", "--adopt"}, "apply", dir)
	if err := l.Get(t.Context(), client.ObjectKey{Name: "deploy-test"}, &rbacv1.ClusterRole{}); !apierrors.IsNotFound(err) {
		t.Errorf("the ClusterRole: %v", err)
	}
}

func firstApply(t *testing.T, l *live) {
	actions, printed, _ := l.run(t, "apply", dir, "--adopt")
	want := each("created")
	want["Namespace/deploy-test"] = "configured"
	expect(t, "actions", want, actions)
	if !strings.HasPrefix(printed, "CustomResourceDefinition/widgets.deploy.example.com created\n") {
		t.Errorf("the first object is not the CRD:\n%s", printed)
	}
	expect(t, "ready replicas", int32(1), l.deployment(t).Status.ReadyReplicas)
}

func unchangedApply(t *testing.T, l *live) {
	before := written(l.deployment(t))
	expect(t, "actions", each("unchanged"), l.mustRun(t, "apply", dir))
	expect(t, "metadata", before, written(l.deployment(t)))
}

// written returns the metadata that changes whenever an apply writes the Deployment. It leaves out the resource
// version, because this also changes when a controller writes the status.
func written(deployment *appsv1.Deployment) metav1.ObjectMeta {
	meta := deployment.ObjectMeta
	meta.ResourceVersion = ""
	meta.ManagedFields = slices.DeleteFunc(meta.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource == "status"
	})
	return meta
}

func revertedChange(t *testing.T, l *live) {
	by := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`))
	if err := l.Patch(t.Context(), l.deployment(t), by, client.FieldOwner("by-hand")); err != nil {
		t.Fatal(err)
	}
	want := each("unchanged")
	want["Deployment/deploy-test/app"] = "configured"
	expect(t, "actions", want, l.mustRun(t, "apply", dir))
	expect(t, "replicas", int32(1), *l.deployment(t).Spec.Replicas)
}

func stuckApply(t *testing.T, l *live) {
	if err := nodes.Remove(t.Context(), l, "amd64-1"); err != nil {
		t.Fatal(err)
	}
	l.fails(t, []string{"Deployment/deploy-test/app: ", "; Pod app-"},
		"apply", dir, "--timeout=4s", "--set-image=app=registry.example.com/app:0.2.0")
}

func refusedDelete(t *testing.T, l *live) {
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("deploy.example.com/v1")
	widget.SetKind("Widget")
	widget.SetName("of-a-user")
	widget.SetNamespace("default")
	if err := l.Create(t.Context(), widget); err != nil {
		t.Fatal(err)
	}
	l.fails(t, []string{"Widget/default/of-a-user", "--cascade"}, "delete", dir)
	l.deployment(t) // fails unless it still exists
}

func deleteKeepsUnowned(t *testing.T, l *live) {
	it := gomega.NewWithT(t)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config", Namespace: "deploy-test"}}
	it.Expect(l.Delete(t.Context(), config)).To(gomega.Succeed())
	config.ResourceVersion = ""
	it.Expect(l.Create(t.Context(), config, client.FieldOwner("another"))).To(gomega.Succeed())
	want := each("deleted")
	want["ConfigMap/deploy-test/config"] = "kept"
	expect(t, "actions", want, l.mustRun(t, "delete", dir, "--cascade"))
	expect(t, "actions of a second delete", each("absent"), l.mustRun(t, "delete", dir))
}

func TestAKubeconfigThatDoesNotExistIsNamed(t *testing.T) {
	_, err := command.Run(t, newCommand(), "apply", dir, "--kubeconfig", "testdata/nowhere")
	if err == nil || !strings.Contains(err.Error(), "testdata/nowhere") {
		t.Errorf("error %v", err)
	}
}

func (l *live) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := l.Get(t.Context(), client.ObjectKey{Namespace: "deploy-test", Name: "app"}, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment
}

// live is a real control plane, and a simulated Node.
type live struct {
	client.Client
	*local.Cluster
}

func newLive(t *testing.T) *live {
	t.Helper()
	it := gomega.NewWithT(t)
	options := local.Options{Name: "test-deploy", Simulated: true, Architectures: []string{"amd64"}, Attached: true}
	cluster, err := local.Up(t.Context(), options)
	it.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = cluster.Down(context.WithoutCancel(t.Context())) })
	config, err := cluster.RESTConfig()
	it.Expect(err).NotTo(gomega.HaveOccurred())
	kube, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	it.Expect(err).NotTo(gomega.HaveOccurred())
	return &live{kube, cluster}
}

// run runs the command, and returns the action for each object, and what it printed.
func (l *live) run(t *testing.T, args ...string) (actions map[string]string, printed string, err error) {
	t.Helper()
	printed, err = command.Run(t, newCommand(), append(args, "--kubeconfig", l.Kubeconfig)...)
	actions = map[string]string{}
	for _, match := range resultLine.FindAllStringSubmatch(printed, -1) {
		actions[match[1]] = match[2]
	}
	return actions, printed, err
}

var resultLine = regexp.MustCompile(`(?m)^([^\s:]+/[^\s:]+) (\w+)(: .*)?$`)

// mustRun fails the test unless the command succeeds.
func (l *live) mustRun(t *testing.T, args ...string) (actions map[string]string) {
	t.Helper()
	actions, printed, err := l.run(t, args...)
	if err != nil {
		t.Fatalf("deploy %v: %v\n%s", args, err, printed)
	}
	return actions
}

// fails fails the test unless the command returns an error with these texts.
func (l *live) fails(t *testing.T, want []string, args ...string) {
	t.Helper()
	_, printed, err := l.run(t, args...)
	for _, text := range want {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("deploy %v: error %v has no %q:\n%s", args, err, text, printed)
		}
	}
}
