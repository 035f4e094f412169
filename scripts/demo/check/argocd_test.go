package check

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// define makes a kind known, until the test is over.
func define(t *testing.T, name, version, kind string, namespaced bool) {
	t.Helper()
	defineAs(t, demotest.Definition(name, version, kind, namespaced))
}

func defineAs(t *testing.T, definition *unstructured.Unstructured) {
	t.Helper()
	if err := server.Define(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Undefine(context.WithoutCancel(t.Context()), definition); err != nil {
			t.Error(err)
		}
	})
}

// defineArgoCD makes Argo CD's kinds known.
func defineArgoCD(t *testing.T) {
	t.Helper()
	for _, definition := range demotest.ArgoCDKinds() {
		defineAs(t, definition)
	}
}

func TestArgoCDIsMissing(t *testing.T) {
	expect(t, argoCD(t.Context(), subject(t, target.Direct)), Failed,
		"applications.argoproj.io is missing", "kubectl apply --server-side -k gitops/bootstrap/argocd/operator")
}

func TestArgoCDIsFound(t *testing.T) {
	defineArgoCD(t)
	const image = "quay.io/argoproj/argocd:v3.2.6@sha256:0123456789012345678901234567890123456789012345678901234567890123"
	deployment := func() *appsv1.Deployment {
		set := demotest.Controller("argocd", "gitops-argocd-application-controller", image, 0)
		return &appsv1.Deployment{ObjectMeta: set.ObjectMeta, Spec: appsv1.DeploymentSpec{Selector: set.Spec.Selector, Template: set.Spec.Template}}
	}
	here := demotest.ArgoCDSettings("argocd", nil)
	there := demotest.ArgoCDSettings("openshift-gitops", nil)
	tests := map[string]struct {
		namespace string // by the flag
		objects   func(t *testing.T)
		status    Status
		words     []string
	}{
		"nowhere": {"", func(*testing.T) {}, Failed, []string{"no namespace has", "argocd-cm", "--argocd-namespace"}},
		"in a namespace without one": {"other", func(t *testing.T) { create(t, here.DeepCopy()) }, Failed,
			[]string{`"argocd-cm" not found`, "--argocd-namespace"}},
		"in several": {"", func(t *testing.T) { create(t, here.DeepCopy(), there.DeepCopy()) }, Failed,
			[]string{"several", "argocd, openshift-gitops", "--argocd-namespace"}},
		"in one of several, by its name": {"openshift-gitops", func(t *testing.T) {
			create(t, here.DeepCopy(), there.DeepCopy(), demotest.Controller("openshift-gitops", "openshift-gitops-application-controller", image, 1))
		}, Passed, []string{"in the namespace openshift-gitops, v3.2.6"}},
		"without a controller": {"", func(t *testing.T) { create(t, here.DeepCopy()) }, Warning,
			[]string{"without an application controller", "outside of the cluster"}},
		"with a controller that is not ready": {"", func(t *testing.T) {
			create(t, here.DeepCopy(), demotest.Controller("argocd", "argocd-application-controller", image, 0))
		}, Failed, []string{"not ready", "kubectl -n argocd get pods"}},
		"with a controller of a Deployment that is not ready": {"", func(t *testing.T) { create(t, here.DeepCopy(), deployment()) }, Failed,
			[]string{"not ready"}},
		"with a ready controller": {"", func(t *testing.T) {
			create(t, here.DeepCopy(), demotest.Controller("argocd", "argocd-application-controller", image, 1))
		}, Passed, []string{"in the namespace argocd, v3.2.6"}},
		"in a version that is older than any that was tried": {"", func(t *testing.T) {
			create(t, here.DeepCopy(), demotest.Controller("argocd", "argocd-application-controller", "quay.io/argoproj/argocd:v2.10.1", 1))
		}, Warning, []string{"v2.10.1", "v2.14"}},
		"in a version that its image does not tell": {"", func(t *testing.T) {
			create(t, here.DeepCopy(), demotest.Controller("argocd", "argocd-application-controller", "example.com/argocd:latest", 1))
		}, Passed, []string{"example.com/argocd:latest"}},
	}
	namespace(t, "argocd")
	namespace(t, "openshift-gitops")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.objects(t)
			s := subject(t, target.Direct)
			s.ArgoCDNamespace = tc.namespace
			expect(t, argoCD(t.Context(), s), tc.status, tc.words...)
		})
	}
}
