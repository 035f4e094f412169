//go:build e2e

package fleet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/site"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

func start(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, WithT: gomega.NewWithT(t)}
	f.SetDefaultEventuallyTimeout(patience)
	f.SetDefaultEventuallyPollingInterval(250 * time.Millisecond)
	t.Cleanup(func() {
		f.explain()
		for _, name := range []string{spokeName, hubName} {
			if _, err := local.Down(context.WithoutCancel(t.Context()), name); err != nil {
				t.Error(err)
			}
		}
	})
	var err error
	if f.hub, err = site.Up(t.Context(), local.Options{Name: hubName, ArgoCD: true, ApplicationSets: true}); err != nil {
		t.Fatal(err)
	}
	architecture := oci.Host().Architecture
	if f.spoke, err = newSpoke(t.Context(), spokeName, architecture, f.hub.Cluster); err != nil {
		t.Fatal(err)
	}
	if f.images, err = f.hub.PushImages(t.Context(), "0.1.0-fleet", func(string) {}); err != nil {
		t.Fatal(err)
	}
	f.first = cluster{
		name: "hub", server: "https://kubernetes.default.svc", ring: "1", environment: "dev",
		arch: architecture, way: "direct",
	}
	f.second = cluster{
		name: "spoke", server: f.spoke.config.Host, ring: "2", environment: "prod",
		arch: architecture, way: "direct",
	}
	return f
}

// publish commits the tree with a cache for each environment, and tags it. Nothing follows the tag yet.
func (f *fleet) publish(tag, spec string) {
	f.t.Helper()
	f.hub.Edit = func(dir string) error {
		for _, c := range []cluster{f.first, f.second} {
			if err := writeCache(filepath.Join(dir, "caches", c.environment, namespace), spec); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := f.hub.Publish(f.t.Context(), tag, f.images); err != nil {
		f.t.Fatal(err)
	}
	for _, arguments := range [][]string{{"tag", tag}, {"push", "--quiet", "origin", tag}} {
		tree.Git(f.t, f.hub.Git.Dir, arguments...)
	}
}

func writeCache(dir, spec string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{
		"namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespace + "}\n",
		cache + ".yaml": "apiVersion: cache.example.com/v1\nkind: Memcached\nmetadata: {name: " + cache +
			", namespace: " + namespace + "}\nspec: " + spec + "\n",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// rings sets the revisions that the two rings follow, by a commit of rings.yaml.
func (f *fleet) rings(first, second string) {
	f.t.Helper()
	content := fmt.Sprintf("- {ring: \"1\", revision: %s}\n- {ring: \"2\", revision: %s}\n", first, second)
	_, err := f.hub.Git.Commit(f.t.Context(), first+" for ring 1, "+second+" for ring 2", func(dir string) error {
		return os.WriteFile(filepath.Join(dir, folder, "rings.yaml"), []byte(content), 0o600)
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// install applies what docs/fleet.md says.
func (f *fleet) install() {
	f.t.Helper()
	for _, folder := range []string{"gitops/bootstrap/argocd/existing", folder} {
		objects, err := kustomize.Objects(filepath.Join(f.hub.Git.Dir, folder))
		if err != nil {
			f.t.Fatal(err)
		}
		if err := f.hub.Apply(f.t.Context(), objects); err != nil {
			f.t.Fatal(err)
		}
	}
	f.deny(false) // Otherwise the test would fail on Saturdays.
	for _, secret := range []*corev1.Secret{f.first.secret(nil), f.second.secret(f.spoke.config)} {
		if err := f.hub.Client.Create(f.t.Context(), secret); err != nil {
			f.t.Fatal(err)
		}
	}
	crd := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "memcacheds.cache.example.com")
	f.Eventually(func() error { return f.spoke.kube.Get(f.t.Context(), client.ObjectKeyFromObject(crd), crd) }).
		Should(gomega.Succeed(), "Argo CD installs the CRD in the cluster of ring 2: %s", f)
	f.spoke.operate(f.t)
}

// explain logs what Argo CD reports, if the test failed.
func (f *fleet) explain() {
	if !f.t.Failed() || f.hub == nil {
		return
	}
	command := exec.Command(f.hub.Cluster.Kubectl, "--kubeconfig="+f.hub.Cluster.Kubeconfig, "--namespace=argocd", "get",
		"applications,applicationsets", "--output=jsonpath={range .items[*]}{.metadata.name}{\"\\n  \"}{.status.conditions}"+
			"{.status.applicationStatus}{.status.sync.status}{.status.health}{.status.operationState.message}{\"\\n\"}{end}")
	out, err := command.CombinedOutput()
	f.t.Logf("%v\n%s", err, out)
}

// deny makes the sync window of production, which forbids syncs, last for ever, or removes it.
func (f *fleet) deny(deny bool) {
	f.t.Helper()
	project := f.get("AppProject", "memcached-fleet")
	windows := []any{}
	if deny {
		has := shipped(f.t, "AppProject", "memcached-fleet")
		windows, _, _ = unstructured.NestedSlice(has.Object, "spec", "syncWindows")
		windows[0].(map[string]any)["schedule"] = "* * * * *"
	}
	before := project.DeepCopy()
	f.Expect(unstructured.SetNestedSlice(project.Object, windows, "spec", "syncWindows")).To(gomega.Succeed())
	f.Expect(f.hub.Client.Patch(f.t.Context(), project, client.MergeFrom(before))).To(gomega.Succeed())
}

func (f *fleet) cacheOf(kube client.Client) *cachev1.Memcached {
	f.t.Helper()
	mc := &cachev1.Memcached{}
	f.Expect(kube.Get(f.t.Context(), client.ObjectKey{Namespace: namespace, Name: cache}, mc)).To(gomega.Succeed())
	return mc
}

// root is the name of the cluster's root Application.
func (c cluster) root() string { return "fleet-" + c.environment + "-" + c.name }

// application returns an Application, or an empty object if it does not exist.
func (f *fleet) application(name string) *unstructured.Unstructured {
	application := object("argoproj.io/v1alpha1", "Application", "argocd", name)
	err := f.hub.Client.Get(f.t.Context(), client.ObjectKeyFromObject(application), application)
	if client.IgnoreNotFound(err) != nil {
		f.t.Fatal(err)
	}
	return application
}

func (f *fleet) get(kind, name string) *unstructured.Unstructured {
	f.t.Helper()
	o := object("argoproj.io/v1alpha1", kind, "argocd", name)
	f.Expect(f.hub.Client.Get(f.t.Context(), client.ObjectKeyFromObject(o), o)).To(gomega.Succeed())
	return o
}

func object(version, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func text(o *unstructured.Unstructured, fields ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, fields...)
	return value
}
