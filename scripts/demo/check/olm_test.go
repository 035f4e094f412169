package check

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// installed is what is left of an OLM or a cert-manager in a cluster, as Argo CD's Application leaves it or by hand.
func installed(application, namespace string, crds ...string) (objects []client.Object) {
	for _, name := range crds {
		definition := demotest.Definition(name, "v1", "Kind", true)
		if application != "" {
			definition.SetAnnotations(map[string]string{"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"})
		}
		objects = append(objects, definition)
	}
	if namespace != "" {
		objects = append(objects, demotest.Tracked(demotest.Namespace(namespace), application))
	}
	return objects
}

// catalog is one that OLM has read, or not.
func catalog(name, state string) []client.Object {
	object := demotest.Object("operators.coreos.com/v1alpha1", "CatalogSource", "olm", name)
	if state != "" {
		object.Object["status"] = map[string]any{"connectionState": map[string]any{"lastObservedState": state}}
	}
	return []client.Object{object}
}

func TestOLM(t *testing.T) {
	const (
		v1, certManager = "clusterextensions.olm.operatorframework.io", "certificates.cert-manager.io"
		catalogs        = "catalogsources.operators.coreos.com"
		subscriptions   = "subscriptions.operators.coreos.com"
		groups          = "operatorgroups.operators.coreos.com"
	)
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	scheme.AddKnownTypeWithName(catalogKind.GroupVersion().WithKind("CatalogSourceList"), &unstructured.UnstructuredList{})
	tests := map[string]struct {
		there  []client.Object
		way    target.Way
		status Status
		words  []string
	}{
		"is not there, and comes along":             {nil, target.OLM, Passed, []string{"not there yet", "github.com"}},
		"is not there, and is needed":               {nil, target.OpenShift, Failed, []string{catalogs, "--method olm"}},
		"is there by halves, and is needed":         {installed("", "olm", catalogs, subscriptions), target.OpenShift, Failed, []string{groups}},
		"is there, and is needed":                   {installed("", "olm", catalogs, subscriptions, groups), target.OpenShift, Passed, nil},
		"is OpenShift's, and is needed":             {installed("", "", catalogs, subscriptions, groups), target.OpenShift, Passed, nil},
		"is there, and would come along":            {installed("", "olm", subscriptions), target.OLM, Failed, []string{"OLM is there already", "--method openshift"}},
		"is OpenShift's, and would come along":      {installed("", "", subscriptions), target.OLM, Failed, []string{"OLM is there already", "--method openshift"}},
		"is of another Application":                 {installed("platform", "olm", subscriptions), target.OLM, Failed, []string{"OLM is there already"}},
		"is of an earlier demo":                     {installed("olm", "olm", subscriptions), target.OLM, Passed, []string{"earlier demo"}},
		"left its CRDs after an earlier demo":       {installed("olm", "", subscriptions), target.OLM, Passed, []string{"earlier demo"}},
		"is of an earlier demo, and no other way's": {installed("olm", "olm", catalogs, subscriptions, groups), target.OpenShift, Failed, []string{"Application olm", "--method olm"}},
		"is there, and reads all catalogs":          {append(catalog("community", "READY"), installed("", "olm", catalogs, subscriptions, groups)...), target.OpenShift, Passed, nil},
		"is there, and can't read a catalog":        {append(catalog("community", "TRANSIENT_FAILURE"), installed("", "olm", catalogs, subscriptions, groups)...), target.OpenShift, Warning, []string{"olm/community TRANSIENT_FAILURE", "installs nothing"}},
		"is there, and has not read a catalog yet":  {append(catalog("community", ""), installed("", "olm", catalogs, subscriptions, groups)...), target.OpenShift, Warning, []string{"olm/community"}},
		"v1 is not there, and comes along":          {installed("", "olm", subscriptions), target.OLMv1, Passed, []string{"not there yet"}},
		"v1 is there, and would come along":         {installed("", "olmv1-system", v1), target.OLMv1, Failed, []string{"OLM v1 is there already", "another way"}},
		"v1 is of an earlier demo":                  {installed("operator-controller", "olmv1-system", v1), target.OLMv1, Passed, []string{"earlier demo"}},
		"v1 would bring a cert-manager beside one":  {installed("", "cert-manager", certManager), target.OLMv1, Failed, []string{"cert-manager is there already"}},
		"v1 goes on with its own cert-manager":      {installed("cert-manager", "cert-manager", certManager), target.OLMv1, Passed, nil},
		"v0 does not care for a cert-manager":       {installed("", "cert-manager", certManager), target.OLM, Passed, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &Subject{Options: target.Options{Way: tc.way}, Kube: &target.Kube{
				Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.there...).Build(),
			}}
			expect(t, olm(t.Context(), s), tc.status, tc.words...)
		})
	}
}
