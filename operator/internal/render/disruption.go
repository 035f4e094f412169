package render

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// disruptionBudget returns the PodDisruptionBudget, which keeps a drain of Nodes from evicting more Pods at the same
// time than the plan allows. A Pod that is not ready may always be evicted.
func disruptionBudget(p plan.Plan) Object {
	budget := policyv1ac.PodDisruptionBudget(p.Name, p.Namespace).
		WithLabels(labelsWith(p.Name, p.CommonMetadata.Labels)).
		WithAnnotations(p.CommonMetadata.Annotations).
		WithOwnerReferences(owner(p)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(*p.Disruption).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(p.Name))))
	return Object{
		GroupKind:     policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget").GroupKind(),
		Configuration: budget,
		Metadata:      budget.ObjectMetaApplyConfiguration,
	}
}
