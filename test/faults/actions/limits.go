package actions

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// quota is a ResourceQuota that is too small.
type quota struct {
	lasting

	Resource corev1.ResourceName `json:"resource"`
	Amount   string              `json:"amount"`
	Raised   bool                `json:"raised"` // in the end, rather than deleted
}

// limitRange refuses containers, or gives them defaults.
type limitRange struct {
	lasting

	Limits corev1.LimitRangeItem `json:"limits"`
}

// refusal is a ValidatingAdmissionPolicy that refuses some writes.
type refusal struct {
	lasting

	Group        string                    `json:"group"`
	Resource     string                    `json:"resource"`
	Operation    admissionv1.OperationType `json:"operation"`
	OperatorOnly bool                      `json:"operatorOnly"`
	Reason       metav1.StatusReason       `json:"reason"`
}

func limits() []Action {
	return []Action{
		{plan.Action{Name: "a quota is too small", Weight: 2, Draw: drawQuota}, given(setQuota)},
		{plan.Action{Name: "a LimitRange is set", Weight: 1, Draw: drawLimitRange}, given(setLimitRange)},
		{plan.Action{Name: "an admission policy refuses writes", Weight: 2, Draw: drawRefusal}, given(refuseWrites)},
	}
}

func drawQuota(r *rand.Rand) any {
	return quota{
		lasting: drawLasting(r), Amount: one(r, "0", "1", "2"), Raised: r.IntN(2) == 0,
		Resource: one(r, corev1.ResourcePods, corev1.ResourceServices, corev1.ResourceRequestsCPU,
			corev1.ResourceLimitsMemory, "count/deployments.apps", "count/replicasets.apps",
			"count/networkpolicies.networking.k8s.io", "count/poddisruptionbudgets.policy"),
	}
}

func setQuota(ctx context.Context, w *world.World, with quota) error {
	hard := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{with.Resource: resource.MustParse(amount)}
	}
	object := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: newName(w, "quota")},
		Spec:       corev1.ResourceQuotaSpec{Hard: hard(with.Amount)},
	}
	end := func(ctx context.Context) error {
		if !with.Raised {
			return w.Client.Delete(ctx, object)
		}
		raised := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: object.Name}}
		small := raised.DeepCopy()
		raised.Spec.Hard = hard("1000Gi")
		return w.Client.Patch(ctx, raised, client.MergeFrom(small))
	}
	return limitFor(ctx, w, with.lasting, object, end)
}

func drawLimitRange(r *rand.Rand) any {
	of := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		}
	}
	return limitRange{drawLasting(r), one(r,
		corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: of("1m", "1Mi")},
		corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: of("100", "100Gi")},
		corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: of("20m", "64Mi")},
		corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: of("2", "1Gi"), DefaultRequest: of("1m", "1Mi")},
	)}
}

func setLimitRange(ctx context.Context, w *world.World, with limitRange) error {
	object := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: newName(w, "range")},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{with.Limits}},
	}
	return limitFor(ctx, w, with.lasting, object, func(ctx context.Context) error { return w.Client.Delete(ctx, object) })
}

// write is what a policy may refuse.
type write struct {
	group, resource string
	operation       admissionv1.OperationType
}

// byOperator are the writes of the operator, and byControllers those of Kubernetes.
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
		{"apps", "replicasets", admissionv1.Update},
		{"apps", "replicasets", admissionv1.Delete},
		{"apps", "deployments", admissionv1.Delete},
	}
)

// leastRefusal is longer than an API server takes to act on a policy: it looks for new ones once a second.
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

// refuse spares administrators: what a step has done must be undone.
func refuseWrites(ctx context.Context, w *world.World, with refusal) error {
	spared := admissionv1.MatchCondition{
		Name: "not-administrators", Expression: "!('system:masters' in request.userInfo.groups)",
	}
	if with.OperatorOnly {
		spared = admissionv1.MatchCondition{
			Name: "the-operator", Expression: "request.userInfo.username == '" + install.User + "'",
		}
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: newName(w, w.Namespace)},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConditions: []admissionv1.MatchCondition{spared},
			Validations: []admissionv1.Validation{{
				Expression: "false", Message: "not at this time", Reason: &with.Reason,
			}},
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.Namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{with.Operation},
					Rule: admissionv1.Rule{
						APIGroups: []string{with.Group}, APIVersions: []string{"*"}, Resources: []string{with.Resource},
					},
				}}},
			},
		},
	}
	if err := limitFor(ctx, w, with.lasting, policy, func(ctx context.Context) error {
		return w.Client.Delete(ctx, policy)
	}); err != nil {
		return err
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	return limitFor(ctx, w, with.lasting, binding, func(ctx context.Context) error {
		return w.Client.Delete(ctx, binding)
	})
}

// limit creates an object, and has it ended after a while.
func limitFor(
	ctx context.Context, w *world.World, with lasting, object client.Object, end func(context.Context) error,
) error {
	if err := attempt(ctx, func(ctx context.Context) error { return w.Client.Create(ctx, object) }); err != nil {
		return err
	}
	endAfter(ctx, w, with.For.Duration, func(ctx context.Context) error { return attempt(ctx, end) })
	return nil
}
