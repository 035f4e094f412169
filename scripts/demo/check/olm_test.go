package check

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/example-inc/memcached-operator/scripts/demo/demotest"
	"github.com/example-inc/memcached-operator/scripts/demo/target"
)

// defined are the definitions that an OLM brings, as belonging to an Application of Argo CD or to nobody.
func defined(application string, names ...string) (objects []client.Object) {
	for _, name := range names {
		definition := demotest.Definition(name, "v1", "Kind", true)
		if application != "" {
			demotest.Tracked(definition, application)
		}
		objects = append(objects, definition)
	}
	return objects
}

func TestOLM(t *testing.T) {
	v0 := []string{
		"subscriptions.operators.coreos.com", "catalogsources.operators.coreos.com", "operatorgroups.operators.coreos.com",
	}
	v1, certManager := "clusterextensions.olm.operatorframework.io", "certificates.cert-manager.io"
	tests := map[string]struct {
		application string
		there       []string
		way         target.Way
		status      Status
		words       []string
	}{
		"is not there, and comes along":                {"", nil, target.OLM, Passed, []string{"not there yet", "github.com"}},
		"is not there, and is needed":                  {"", nil, target.OpenShift, Failed, []string{"catalogsources.operators.coreos.com", "--way olm"}},
		"is there by halves, and is needed":            {"", v0[:2], target.OpenShift, Failed, []string{"operatorgroups"}},
		"is there, and is needed":                      {"", v0, target.OpenShift, Passed, nil},
		"is there, and would come along":               {"", v0, target.OLM, Failed, []string{"OLM is there already", "--way openshift"}},
		"is of an earlier demo":                        {"olm", v0, target.OLM, Passed, []string{"earlier demo"}},
		"is of an earlier demo, and of no other way":   {"olm", v0, target.OpenShift, Failed, []string{"Application olm", "--way olm"}},
		"v1 is not there, and comes along":             {"", v0, target.OLMv1, Passed, []string{"not there yet"}},
		"v1 is there, and would come along":            {"", []string{v1}, target.OLMv1, Failed, []string{"OLM v1 is there already", "another way"}},
		"v1 is of an earlier demo":                     {"operator-controller", []string{v1}, target.OLMv1, Passed, []string{"earlier demo"}},
		"v1 would bring a cert-manager that is there":  {"", []string{certManager}, target.OLMv1, Failed, []string{"cert-manager is there already"}},
		"v1 goes on with a cert-manager of an earlier": {"cert-manager", []string{certManager}, target.OLMv1, Passed, nil},
		"v0 does not care for a cert-manager":          {"", []string{certManager}, target.OLM, Passed, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &Subject{Options: target.Options{Way: tc.way}, Kube: &target.Kube{
				Client: fake.NewClientBuilder().WithObjects(defined(tc.application, tc.there...)...).Build(),
			}}
			expect(t, olm(t.Context(), s), tc.status, tc.words...)
		})
	}
}
