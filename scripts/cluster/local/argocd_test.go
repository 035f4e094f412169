//go:build e2e

package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/supervisor"
)

// application follows the repository's root into the namespace default.
const application = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: test, namespace: argocd}
spec:
  project: default
  source: {repoURL: %q, targetRevision: main, path: .}
  destination: {server: 'https://kubernetes.default.svc', namespace: default}
  syncPolicy: {automated: {}}
`

func TestArgoCDOfEachVersion(t *testing.T) {
	for _, program := range builds.ArgoCDs {
		version, err := program.Version()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(version, func(t *testing.T) {
			const name = "lifecycle-argocd"
			t.Cleanup(func() { _, _ = Down(context.WithoutCancel(t.Context()), name) })
			cluster, err := Up(t.Context(), Options{Name: name, ArgoCD: true, ArgoCDVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			if cluster.ArgoCDVersion != version {
				t.Errorf("it says that it is %s", cluster.ArgoCDVersion)
			}
			kube := newClient(t, cluster)
			settingsLieOverTheDefaults(t, cluster, kube)
			commitsAreDeployed(t, cluster, kube)
		})
	}
}

func settingsLieOverTheDefaults(t *testing.T, cluster *Cluster, kube client.Client) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(filepath.Dir(cluster.Kubeconfig), "argocd", "manifests", "argocd-cm.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(content, want); err != nil {
		t.Fatal(err)
	}
	got := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: supervisor.ArgoCDNamespace, Name: want.Name}
	if err := kube.Get(t.Context(), key, got); err != nil {
		t.Fatal(err)
	}
	if got.Data["application.resourceTrackingMethod"] != "annotation" {
		t.Errorf("%s lacks our settings: %v", want.Name, got.Data)
	}
	for key, value := range want.Data {
		if got.Data[key] != value {
			t.Errorf("%s lost the default of %s", want.Name, key)
		}
	}
}

func commitsAreDeployed(t *testing.T, cluster *Cluster, kube client.Client) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, application, cluster.Git), &object.Object); err != nil {
		t.Fatal(err)
	}
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	git(t, tree, "init", "--quiet", "--initial-branch=main")
	push(t, tree, cluster, "first")
	awaitDeployed(t, kube, object, "first")

	if err := cluster.Kill("argocd-repo-server"); err != nil {
		t.Fatal(err)
	}
	push(t, tree, cluster, "after its repo server was killed")
	awaitDeployed(t, kube, object, "after its repo server was killed")
}

// push commits a ConfigMap that holds the text.
func push(t *testing.T, tree string, cluster *Cluster, text string) {
	t.Helper()
	manifest := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: test}\ndata: {text: %q}\n", text)
	if err := os.WriteFile(filepath.Join(tree, "test.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, tree, "add", "test.yaml")
	git(t, tree, "-c", "user.name=test", "-c", "user.email=test@memcached-operator.invalid",
		"commit", "--quiet", "--message="+text)
	git(t, tree, "push", "--quiet", cluster.Git, "main")
}

func git(t *testing.T, tree string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

func awaitDeployed(t *testing.T, kube client.Client, application *unstructured.Unstructured, text string) {
	t.Helper()
	deployed := func(ctx context.Context) (bool, error) {
		object := &corev1.ConfigMap{}
		err := kube.Get(ctx, client.ObjectKey{Namespace: "default", Name: "test"}, object)
		return object.Data["text"] == text, client.IgnoreNotFound(err)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, deployed)
	if err != nil {
		_ = kube.Get(t.Context(), client.ObjectKeyFromObject(application), application)
		t.Fatalf("the commit %q is not deployed: %v\n%v", text, err, application.Object["status"])
	}
}

func newClient(t *testing.T, cluster *Cluster) client.Client {
	t.Helper()
	log.SetLogger(logr.Discard()) // The client would else complain that it has nowhere to log.
	config, err := cluster.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	kube, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return kube
}
