package integration

import (
	"context"
	"testing"

	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const componentLabel = "app.kubernetes.io/component"

// TestWhatAdmissionMakesOfANewChildIsReverted: nothing else happens to a Service that the operator makes anew, so it has
// to look at it once more by itself.
func TestWhatAdmissionMakesOfANewChildIsReverted(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	w.alterNewServices()
	w.Expect(cluster.Delete(w.ctx, get(w, "cache", &corev1.Service{}))).To(gomega.Succeed())
	w.Eventually(w.events).Should(gomega.ContainElement("Warning DriftCorrected Service"))
	w.Expect(get(w, "cache", &corev1.Service{}).Labels).To(gomega.HaveKeyWithValue(componentLabel, "cache"))
}

// alterNewServices has the API server put another label on each Service that is created in the world's namespace, and
// waits until it does.
func (w *world) alterNewServices() {
	w.t.Helper()
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      new(admissionv1.Fail),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
				}}},
			},
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{
					Expression: `Object{metadata: Object.metadata{labels: {"` + componentLabel + `": "other"}}}`,
				},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: w.namespace},
	}
	for _, object := range []client.Object{policy, binding} {
		w.Expect(cluster.Create(w.ctx, object)).To(gomega.Succeed())
		w.t.Cleanup(func() { _ = cluster.Delete(context.WithoutCancel(w.ctx), object) })
	}
	w.Eventually(func() map[string]string {
		trial := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "trial"},
			Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone},
		}
		w.Expect(cluster.Create(w.ctx, trial, client.DryRunAll)).To(gomega.Succeed())
		return trial.Labels
	}).Should(gomega.HaveKeyWithValue(componentLabel, "other"))
}
