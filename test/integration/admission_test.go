package integration

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const componentLabel = "app.kubernetes.io/component"

// TestDriftByAdmissionInANewObjectIsReverted: a mutating policy changes a Service that the operator creates again. No
// event follows this creation, so the operator has to compare the Service again by itself.
func TestDriftByAdmissionInANewObjectIsReverted(t *testing.T) {
	w := newWorld(t)
	w.memcached("cache", 1)
	w.ready("cache")
	w.mutate(admissionv1.Create, admissionv1.Rule{APIGroups: []string{""}, Resources: []string{"services"}},
		`Object{metadata: Object.metadata{labels: {"`+componentLabel+`": "other"}}}`)
	w.Eventually(func() map[string]string {
		trial := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "trial"},
			Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone},
		}
		w.Expect(cluster.Create(w.ctx, trial, client.DryRunAll)).To(gomega.Succeed())
		return trial.Labels
	}).Should(gomega.HaveKeyWithValue(componentLabel, "other"))
	w.Expect(cluster.Delete(w.ctx, get(w, "cache", &corev1.Service{}))).To(gomega.Succeed())
	w.Eventually(w.events).Should(gomega.ContainElement("Warning DriftCorrected Service"))
	w.Expect(get(w, "cache", &corev1.Service{}).Labels).To(gomega.HaveKeyWithValue(componentLabel, "cache"))
}

// TestFieldManagerConflictWhileAdmissionUndoesWrites: a mutating policy undoes each write of the operator. Then the API
// server reports success, but stores nothing and sends no event.
func TestFieldManagerConflictWhileAdmissionUndoesWrites(t *testing.T) {
	tests := map[string]struct{ mutation, is string }{
		"an image": {
			mutation: `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [` +
				`Object.spec.template.spec.containers{name: "memcached", image: "` + otherImage + `"}]}}}}`,
			is: `].image "` + memcachedImage + `" -> "` + otherImage + `"`,
		},
		"the number of Pods": {mutation: `Object{spec: Object.spec{replicas: 7}}`, is: `.spec.replicas 1 -> 7`},
		"a label": {
			mutation: `Object{metadata: Object.metadata{labels: {"` + componentLabel + `": "other"}}}`,
			is:       `"cache" -> "other"`,
		},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			w.memcached("cache", 1)
			w.ready("cache")
			before := w.deployment("cache")
			stop := w.mutate(admissionv1.Update, admissionv1.Rule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}},
				tc.mutation)
			w.Eventually(func() string { // The API server needs a moment to use a new policy, so write until it does.
				w.touch("cache")
				return w.message()
			}).Should(gomega.SatisfyAll(gomega.ContainSubstring(tc.is),
				gomega.ContainSubstring("by a mutating admission policy or webhook"),
				gomega.ContainSubstring("Fix: exempt the Deployment")))
			w.reason("cache", cachev1.ReasonFieldManagerConflict)
			spent := len(w.quiet())
			w.Consistently(w.reasonNow, 4*time.Second).Should(gomega.Equal(cachev1.ReasonFieldManagerConflict))
			w.Expect(w.writes(spent)).To(gomega.BeNumerically("<=", 1), "it pauses")
			stop()
			w.undo(before)
			w.ready("cache")
		})
	}
}

// undo reverts the change by hand, because docs/day2.md says that this ends a pause early. On a slow machine, the pause
// takes a minute or more. The API server needs a moment until it no longer uses a policy.
func (w *world) undo(before *appsv1.Deployment) {
	w.t.Helper()
	w.Eventually(func(g gomega.Gomega) {
		deployment := w.deployment(before.Name)
		deployment.Labels, deployment.Spec = before.Labels, before.Spec
		g.Expect(cluster.Update(w.ctx, deployment)).To(gomega.Succeed())
		g.Expect(deployment.Labels).To(gomega.Equal(before.Labels))
		g.Expect(deployment.Spec).To(gomega.Equal(before.Spec))
	}).Should(gomega.Succeed())
}

// touch changes an annotation that the operator does not own in the Deployment.
func (w *world) touch(name string) {
	w.t.Helper()
	deployment := get(w, name, &appsv1.Deployment{})
	before := deployment.DeepCopy()
	if deployment.Annotations["touched"] += "."; len(deployment.Annotations["touched"]) > 100 {
		delete(deployment.Annotations, "touched")
	}
	w.Expect(cluster.Patch(w.ctx, deployment, client.MergeFrom(before))).To(gomega.Succeed())
}

// reasonNow returns the reason of the condition Ready.
func (w *world) reasonNow() string {
	w.t.Helper()
	mc := get(w, "cache", &cachev1.Memcached{})
	return meta.FindStatusCondition(mc.Status.Conditions, cachev1.ConditionReady).Reason
}

// mutate makes the API server change each object that matches the rule in the world's namespace before it is stored.
func (w *world) mutate(operation admissionv1.OperationType, rule admissionv1.Rule, mutation string) (stop func()) {
	w.t.Helper()
	rule.APIVersions = []string{"v1"}
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      new(admissionv1.Fail),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints:   w.admitted(operation, rule),
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: mutation},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: w.namespace},
	}
	return w.admit(policy, binding)
}

// refuse makes the API server refuse an operation on a resource in the world's namespace, unless an expression is true.
// It waits until the API server refuses the request that probe sends.
func (w *world) refuse(
	operation admissionv1.OperationType, group, resource, expression string, probe func() error,
) (allow func()) {
	w.t.Helper()
	rule := admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: w.admitted(operation, rule),
			Validations:      []admissionv1.Validation{{Expression: expression, Message: "refused by the test"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: w.namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	allow = w.admit(policy, binding)
	w.Eventually(probe).ShouldNot(gomega.Succeed())
	return allow
}

// admitted selects the requests of an operation in the world's namespace that match a rule.
func (w *world) admitted(operation admissionv1.OperationType, rule admissionv1.Rule) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{operation}, Rule: rule,
		}}},
	}
}

// admit creates an admission policy and its binding. They are deleted when the test ends, or when stop is called.
func (w *world) admit(policy, binding client.Object) (stop func()) {
	w.t.Helper()
	w.Expect(cluster.Create(w.ctx, policy)).To(gomega.Succeed())
	w.Expect(cluster.Create(w.ctx, binding)).To(gomega.Succeed())
	stop = func() {
		for _, object := range []client.Object{binding, policy} {
			_ = cluster.Delete(context.WithoutCancel(w.ctx), object)
		}
	}
	w.t.Cleanup(stop)
	return stop
}
