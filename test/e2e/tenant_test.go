//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// tenant is the name of a team's AppProject, namespace, and folder in Git.
const tenant = "tenant"

const tenantAutoscaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: tenant}
spec:
  scaleTargetRef: {apiVersion: cache.example.com/v1, kind: Memcached, name: tenant}
  maxReplicas: 2
`

// tenantFiles are the team's files in Git, by folder. The AppProject permits only the objects in the folder "inside".
var tenantFiles = map[string]string{
	"inside":  "apiVersion: v1\nkind: Namespace\nmetadata: {name: tenant}\n---\n" + tenantAutoscaler,
	"away":    strings.Replace(tenantAutoscaler, "name: tenant", "name: tenant, namespace: default", 1),
	"kind":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tenant}\n",
	"cluster": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: tenant}\n",
}

// tenantStaysInItsProject: Argo CD installs the objects that an AppProject like that of the samples permits, and
// refuses all others.
func (s *site) tenantStaysInItsProject(t *testing.T) {
	const elsewhere = "https://git.example.com/elsewhere.git"
	s.writeTenant(t)
	s.makeTenantProject(t)
	s.emptyDefault(t)
	tests := []struct{ name, project, repo, folder, namespace, refused string }{
		{"inside", tenant, s.Repo, "inside", tenant, ""},
		{"source", tenant, elsewhere, "inside", tenant, "application repo " + elsewhere + " is not permitted in project 'tenant'"},
		{"destination", tenant, s.Repo, "inside", "default", "namespace 'default' do not match any of the allowed destinations in project 'tenant'"},
		{"away", tenant, s.Repo, "away", tenant, "namespace default is not permitted in project 'tenant'"},
		{"kind", tenant, s.Repo, "kind", tenant, "resource :ConfigMap is not permitted in project tenant"},
		{"cluster", tenant, s.Repo, "cluster", tenant, "resource rbac.authorization.k8s.io:ClusterRole is not permitted in project tenant"},
		{"default", "default", s.Repo, "kind", "default", "is not permitted in project 'default'"},
	}
	for _, tc := range tests { // all at the same time, because Argo CD needs long for each
		s.makeApplication(t, "tenant-"+tc.name, tc.project, tc.repo, tc.folder, tc.namespace)
	}
	for _, tc := range tests {
		if tc.refused != "" {
			s.applicationSays(t, "tenant-"+tc.name, tc.refused)
		}
	}
	g := newGomega(t)
	inside := inNamespace(tenant, object("autoscaling/v2", "HorizontalPodAutoscaler", tenant))
	g.Eventually(func() error { return s.Client.Get(t.Context(), client.ObjectKeyFromObject(inside), inside) }).
		Should(gomega.Succeed(), "what the AppProject permits is installed")
	for _, refused := range []*unstructured.Unstructured{
		inNamespace("default", object("autoscaling/v2", "HorizontalPodAutoscaler", tenant)),
		inNamespace("default", object("v1", "ConfigMap", tenant)), inNamespace(tenant, object("v1", "ConfigMap", tenant)),
		object("rbac.authorization.k8s.io/v1", "ClusterRole", tenant),
	} {
		err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(refused), refused)
		g.Expect(apierrors.IsNotFound(err)).To(gomega.BeTrue(), "%s in %q: %v", refused.GetKind(), refused.GetNamespace(), err)
	}
}

func inNamespace(namespace string, o *unstructured.Unstructured) *unstructured.Unstructured {
	o.SetNamespace(namespace)
	return o
}

// writeTenant puts the folders into Git.
func (s *site) writeTenant(t *testing.T) {
	t.Helper()
	s.commit(t, "A team's folders", func(dir string) error {
		for folder, content := range tenantFiles {
			path := filepath.Join(dir, tenant, folder)
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(path, "all.yaml"), []byte(content), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	t.Cleanup(func() {
		s.delete(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant}})
		_, err := s.Git.Commit(context.WithoutCancel(t.Context()), "No team's folders",
			func(dir string) error { return os.RemoveAll(filepath.Join(dir, tenant)) })
		if err != nil {
			t.Error(err)
		}
	})
}

// makeTenantProject creates an AppProject like that of the samples, for another namespace.
func (s *site) makeTenantProject(t *testing.T) {
	t.Helper()
	project := inNamespace(argoNamespace, object("argoproj.io/v1alpha1", "AppProject", namespace))
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(project), project); err != nil {
		t.Fatal(err)
	}
	spec, _, _ := unstructured.NestedMap(project.Object, "spec")
	spec["destinations"] = []any{map[string]any{"server": "https://kubernetes.default.svc", "namespace": tenant}}
	project = inNamespace(argoNamespace, object("argoproj.io/v1alpha1", "AppProject", tenant))
	project.Object["spec"] = spec
	s.create(t, project)
}

// emptyDefault applies the Kustomize component that removes all rights from the AppProject default.
func (s *site) emptyDefault(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.Git.Dir, "gitops/bootstrap/base/default-project.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	project := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, project); err != nil {
		t.Fatal(err)
	}
	project.SetNamespace(argoNamespace)
	before := project.DeepCopy()
	existed := s.Client.Get(t.Context(), client.ObjectKeyFromObject(project), before) == nil
	err = s.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(project.DeepCopy()),
		client.FieldOwner("by-hand"), client.ForceOwnership)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.delete(t, project)
		if existed {
			before.SetResourceVersion("")
			before.SetUID("")
			if err := s.Client.Create(context.WithoutCancel(t.Context()), before); err != nil {
				t.Error(err)
			}
		}
	})
}

func (s *site) makeApplication(t *testing.T, name, project, repo, folder, to string) {
	t.Helper()
	application := &unstructured.Unstructured{}
	err := yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %s, namespace: %s}
spec:
  project: %s
  source: {repoURL: %s, targetRevision: %s, path: tenant/%s}
  destination: {server: https://kubernetes.default.svc, namespace: %s}
  syncPolicy: {automated: {}}
`, name, argoNamespace, project, repo, s.Revision, folder, to), application)
	if err != nil {
		t.Fatal(err)
	}
	s.create(t, application)
}

// create creates an object, and deletes it at the end of the test.
func (s *site) create(t *testing.T, o client.Object) {
	t.Helper()
	if err := s.Client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.delete(t, o) })
}

func (s *site) delete(t *testing.T, o client.Object) {
	t.Helper()
	if err := s.Client.Delete(context.WithoutCancel(t.Context()), o); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}
