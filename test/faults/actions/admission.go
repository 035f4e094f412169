package actions

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// refusal is a ValidatingAdmissionPolicy that refuses some writes.
type refusal struct {
	lasting

	Group        string                    `json:"group"`
	Resource     string                    `json:"resource"`
	Operation    admissionv1.OperationType `json:"operation"`
	OperatorOnly bool                      `json:"operatorOnly"`
	Reason       metav1.StatusReason       `json:"reason"`
}

// mutation is a MutatingAdmissionPolicy that changes the operator's writes of a kind. The API server reports success
// for such a write, even if the policy has removed the whole change.
type mutation struct {
	lasting

	Group     string                    `json:"group"`
	Resource  string                    `json:"resource"`
	Operation admissionv1.OperationType `json:"operation"`

	// Expression is the CEL expression of the mutation that the policy applies.
	Expression string `json:"expression"`
}

func admission() []Action {
	return []Action{
		{plan.Action{Name: "an admission policy refuses writes", Weight: 2, Draw: drawRefusal}, given(refuseWrites)},
		{plan.Action{Name: "an admission policy changes writes", Weight: 2, Draw: drawMutation}, given(changeWrites)},
	}
}

// write is a kind of write that a policy may refuse.
type write struct {
	group, resource string
	operation       admissionv1.OperationType
}

// byOperator are the kinds of writes of the operator, and byControllers those of Kubernetes' controllers. They do not
// contain updates of ReplicaSets: if such an update is refused when a Deployment scales an old ReplicaSet down, the
// Deployment controller ignores the error, and does nothing until the next event.
var (
	byOperator = []write{
		{"", "services", admissionv1.Create},
		{"", "services", admissionv1.Update},
		{"apps", "deployments", admissionv1.Create},
		{"apps", "deployments", admissionv1.Update},
		{"networking.k8s.io", "networkpolicies", admissionv1.Create},
		{"networking.k8s.io", "networkpolicies", admissionv1.Update},
		{"networking.k8s.io", "networkpolicies", admissionv1.Delete},
		{"policy", "poddisruptionbudgets", admissionv1.Create},
		{"policy", "poddisruptionbudgets", admissionv1.Update},
		{"policy", "poddisruptionbudgets", admissionv1.Delete},
		{"cache.example.com", "memcacheds/status", admissionv1.Update},
		{"discovery.k8s.io", "endpointslices", admissionv1.Create},
		{"discovery.k8s.io", "endpointslices", admissionv1.Update},
		{"", "pods", admissionv1.Update},
		{"", "pods/status", admissionv1.Update},
	}
	byControllers = []write{
		{"", "pods", admissionv1.Create},
		{"", "pods", admissionv1.Delete},
		{"apps", "replicasets", admissionv1.Create},
		{"apps", "replicasets", admissionv1.Delete},
		{"apps", "deployments", admissionv1.Delete},
	}
)

// leastRefusal is longer than the API server needs to apply a new policy, because it looks for new policies once a
// second.
const leastRefusal = 2 * time.Second

func drawRefusal(r *rand.Rand) any {
	with := refusal{
		lasting: drawLasting(r), OperatorOnly: r.IntN(2) == 0,
		Reason: one(r, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid),
	}
	with.For.Duration = max(with.For.Duration, leastRefusal)
	of := one(r, byOperator...)
	if !with.OperatorOnly {
		of = one(r, slices.Concat(byOperator, byControllers)...)
	}
	with.Group, with.Resource, with.Operation = of.group, of.resource, of.operation
	return with
}

// refuseWrites makes the API server refuse writes, but no writes of administrators, because the campaign must be able
// to undo its steps.
func refuseWrites(ctx context.Context, w *world.World, _ plan.Step, with refusal) error {
	spared := admissionv1.MatchCondition{
		Name: "not-administrators", Expression: "!('system:masters' in request.userInfo.groups)",
	}
	if with.OperatorOnly {
		spared = theOperator()
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: newName(w, w.Namespace)},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConditions: []admissionv1.MatchCondition{spared},
			Validations: []admissionv1.Validation{{
				Expression: "false", Message: "not at this time", Reason: &with.Reason,
			}},
			MatchConstraints: only(w.Namespace, write{with.Group, with.Resource, with.Operation}),
		},
	}
	return policyFor(ctx, w, with.lasting, policy, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	})
}

// These are the CEL expressions that the policies apply.
const (
	otherLabel    = `Object{metadata: Object.metadata{labels: {"app.kubernetes.io/component": "other"}}}`
	otherReplicas = `Object{spec: Object.spec{replicas: 7}}`
	otherImage    = `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{` +
		`containers: [Object.spec.template.spec.containers{name: "memcached", image: "registry.example.com/mirror/memcached:1"}]}}}}`
)

// untilOver is longer than any plan takes.
const untilOver = time.Hour

func drawMutation(r *rand.Rand) any {
	with := mutation{lasting: drawLasting(r)}
	with.Operation = one(r, admissionv1.Create, admissionv1.Update, admissionv1.Update)
	with.For.Duration = max(with.For.Duration, leastRefusal)
	with.Group, with.Resource, with.Expression = "apps", "deployments", one(r, otherLabel, otherReplicas, otherImage)
	if r.IntN(4) == 0 {
		with.For.Duration = untilOver
	}
	if r.IntN(2) == 0 {
		with.Expression = otherLabel
		of := one(r, write{group: "", resource: "services"}, write{group: "networking.k8s.io", resource: "networkpolicies"},
			write{group: "policy", resource: "poddisruptionbudgets"})
		with.Group, with.Resource = of.group, of.resource
	}
	return with
}

func changeWrites(ctx context.Context, w *world.World, _ plan.Step, with mutation) error {
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: newName(w, w.Namespace)},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConditions:    []admissionv1.MatchCondition{theOperator()},
			MatchConstraints:   only(w.Namespace, write{with.Group, with.Resource, with.Operation}),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: with.Expression},
			}},
		},
	}
	return policyFor(ctx, w, with.lasting, policy, &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name},
	})
}

func theOperator() admissionv1.MatchCondition {
	return admissionv1.MatchCondition{
		Name: "the-operator", Expression: "request.userInfo.username == '" + install.User + "'",
	}
}

// only limits a policy to one kind of write in a namespace.
func only(namespace string, of write) *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{of.operation},
			Rule: admissionv1.Rule{
				APIGroups: []string{of.group}, APIVersions: []string{"*"}, Resources: []string{of.resource},
			},
		}}},
	}
}

// policyFor creates a policy and its binding for a while.
func policyFor(ctx context.Context, w *world.World, with lasting, policy, binding client.Object) error {
	for _, object := range []client.Object{policy, binding} {
		end := func(ctx context.Context) error { return w.Client.Delete(ctx, object) }
		if err := limitFor(ctx, w, with, object, end); err != nil {
			return err
		}
	}
	return nil
}
