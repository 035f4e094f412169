package check

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// manager is the operator's Deployment, with the marks of whoever installed it.
func manager(namespace string, labels map[string]string) *appsv1.Deployment {
	set := demotest.Controller(namespace, managerName, "operator", 0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: managerName, Labels: labels},
		Spec:       appsv1.DeploymentSpec{Selector: set.Spec.Selector, Template: set.Spec.Template},
	}
}

func byV0(namespace string) *appsv1.Deployment {
	return manager(namespace, map[string]string{"olm.owner.kind": "ClusterServiceVersion"})
}

func byV1() *appsv1.Deployment {
	return manager(OperatorNamespace, map[string]string{"olm.operatorframework.io/owner-kind": "ClusterExtension"})
}

func TestAnOperatorThatIsThere(t *testing.T) {
	define(t, "subscriptions.operators.coreos.com", "v1alpha1", "Subscription", true)
	define(t, "clusterextensions.olm.operatorframework.io", "v1", "ClusterExtension", false)
	namespace(t, OperatorNamespace)
	namespace(t, "elsewhere")
	subscription := demotest.Object("operators.coreos.com/v1alpha1", "Subscription", OperatorNamespace, operatorName)
	extension := demotest.Object("olm.operatorframework.io/v1", "ClusterExtension", "", operatorName)
	ours := func(object client.Object) client.Object { return demotest.Tracked(object, operatorName) }
	tests := map[string]struct {
		there []client.Object
		want  map[target.Way]Status
		words []string // of those that fail or warn
	}{
		"none": {nil, map[target.Way]Status{target.Direct: Passed, target.OLM: Passed, target.OpenShift: Passed, target.OLMv1: Passed}, nil},
		"by Argo CD": {
			[]client.Object{ours(manager(OperatorNamespace, nil))},
			map[target.Way]Status{target.Direct: Passed, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Failed},
			[]string{"by Argo CD's Application", "kubectl -n argocd delete application memcached-root"},
		},
		"by hand": {
			[]client.Object{manager(OperatorNamespace, nil)},
			map[target.Way]Status{target.Direct: Warning, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Failed},
			[]string{"by hand"},
		},
		"by hand, elsewhere": {
			[]client.Object{manager("elsewhere", nil)},
			map[target.Way]Status{target.Direct: Failed, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Failed},
			[]string{"runs in elsewhere", "make undeploy"},
		},
		"by another Argo CD, elsewhere": {
			[]client.Object{ours(manager("elsewhere", nil))},
			map[target.Way]Status{target.Direct: Failed, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Failed},
			[]string{"runs in elsewhere", "by Argo CD's Application"},
		},
		"by OLM v0": {
			[]client.Object{byV0(OperatorNamespace), subscription},
			map[target.Way]Status{target.Direct: Failed, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Failed},
			[]string{"by OLM v0", "docs/olm.md, Uninstall"},
		},
		"by OLM v0, for Argo CD": {
			[]client.Object{byV0(OperatorNamespace), ours(subscription.DeepCopy())},
			map[target.Way]Status{target.Direct: Failed, target.OLM: Passed, target.OpenShift: Passed, target.OLMv1: Failed},
			[]string{"by OLM v0, for Argo CD", "delete application memcached-root"},
		},
		"by OLM v0, elsewhere": {
			[]client.Object{byV0("elsewhere")},
			map[target.Way]Status{target.Direct: Failed, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Failed},
			[]string{"runs in elsewhere", "by OLM v0"},
		},
		"by OLM v1": {
			[]client.Object{byV1(), extension},
			map[target.Way]Status{target.Direct: Failed, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Failed},
			[]string{"by OLM v1", "deletes every Memcached"},
		},
		"by OLM v1, for Argo CD": {
			[]client.Object{byV1(), ours(extension.DeepCopy())},
			map[target.Way]Status{target.Direct: Failed, target.OLM: Failed, target.OpenShift: Failed, target.OLMv1: Passed},
			[]string{"by OLM v1, for Argo CD", "deletes every Memcached"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, object := range tc.there {
				create(t, object.DeepCopyObject().(client.Object))
			}
			for way, want := range tc.want {
				s := subject(t, way)
				s.ArgoCDNamespace = "argocd"
				words := tc.words
				if want == Passed {
					words = nil
				}
				expect(t, operator(t.Context(), s), want, words...)
			}
		})
	}
	t.Run("by OLM v0, where OLM v1 is wanted, tells why", func(t *testing.T) {
		create(t, byV0(OperatorNamespace))
		expect(t, operator(t.Context(), subject(t, target.OLMv1)), Failed, "OLM v0 and v1 exclude each other")
	})
}

func TestTheCRDOfAnOperatorThatIsGone(t *testing.T) {
	define(t, memcachedCRD, "v1", "Memcached", true)
	expect(t, operator(t.Context(), subject(t, target.Direct)), Passed, "is taken over")
	expect(t, operator(t.Context(), subject(t, target.OLM)), Passed, "is taken over")
	expect(t, operator(t.Context(), subject(t, target.OLMv1)), Failed, "OLM v1 did not make it", "kubectl delete crd memcacheds.cache.example.com")
}

func TestMemcachedsAreCounted(t *testing.T) {
	s := subject(t, target.Direct)
	expect(t, memcacheds(t.Context(), s), Passed, "none")
	define(t, memcachedCRD, "v1", "Memcached", true)
	namespace(t, Namespace)
	namespace(t, "team")
	create(t, demotest.Tracked(demotest.Object("cache.example.com/v1", "Memcached", Namespace, "sample"), "memcached-samples"))
	expect(t, memcacheds(t.Context(), s), Passed, "none")
	for _, name := range []string{"a", "b"} {
		create(t, demotest.Object("cache.example.com/v1", "Memcached", "team", name))
	}
	expect(t, memcacheds(t.Context(), s), Warning, "2 in 1 namespaces", "take care of them")
	expect(t, memcacheds(t.Context(), subjectOf(t, target.Direct, "guest")), Failed, "forbidden", "right to list Memcacheds")
}
