//go:build e2e

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
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
	for _, component := range builds.ArgoCDs {
		version, err := component.Version()
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
			settingsLieOverTheDefaults(t, cluster)
			commitsAreDeployed(t, cluster)
		})
	}
}

func settingsLieOverTheDefaults(t *testing.T, cluster *Cluster) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(filepath.Dir(cluster.Kubeconfig), "argocd", "manifests", "argocd-cm.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := kubectl(t, cluster, "get", "--namespace=argocd", "configmap/argocd-cm", "--output=yaml")
	var want, got corev1.ConfigMap
	if err := errors.Join(yaml.UnmarshalStrict(content, &want), yaml.Unmarshal([]byte(found), &got)); err != nil {
		t.Fatal(err)
	}
	if got.Data["application.resourceTrackingMethod"] != "annotation" {
		t.Errorf("%s does not have our settings: %v", want.Name, got.Data)
	}
	for key, value := range want.Data {
		if got.Data[key] != value {
			t.Errorf("%s lost the default of %s", want.Name, key)
		}
	}
}

func commitsAreDeployed(t *testing.T, cluster *Cluster) {
	t.Helper()
	tree := t.TempDir()
	file := filepath.Join(t.TempDir(), "application.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, application, cluster.Git), 0o644); err != nil {
		t.Fatal(err)
	}
	kubectl(t, cluster, "create", "--filename="+file)
	run(t, "git", "-C", tree, "init", "--quiet", "--initial-branch=main")
	for _, text := range []string{"first", "after its repo server was killed"} {
		manifest := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: test}\ndata: {text: %q}\n", text)
		if err := os.WriteFile(filepath.Join(tree, "test.yaml"), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, "git", "-C", tree, "add", "test.yaml")
		run(t, "git", "-C", tree, "-c", "user.name=test", "-c", "user.email=test@memcached-operator.invalid",
			"commit", "--quiet", "--message="+text)
		run(t, "git", "-C", tree, "push", "--quiet", cluster.Git, "main")
		eventually(t, "the commit is deployed: "+text, func() bool {
			return kubectl(t, cluster, "get", "configmap/test", "--ignore-not-found", "--output=jsonpath={.data.text}") == text
		})
		if err := cluster.Kill("argocd-repo-server"); err != nil {
			t.Fatal(err)
		}
	}
}

func kubectl(t *testing.T, cluster *Cluster, args ...string) string {
	t.Helper()
	return run(t, cluster.Kubectl, append(args, "--kubeconfig="+cluster.Kubeconfig)...)
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
