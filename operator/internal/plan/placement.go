package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// placement adds the Pods' labels to topology constraints. It adds no constraints of its own: the scheduler spreads
// the Pods of a Service over Nodes and zones by default. Soft constraints would be worse, because the scheduler
// ignores Nodes that lack the label of any of them: all Nodes of a cluster without zones.
func placement(spec cachev1.MemcachedSpec, instance string) cachev1.Placement {
	resolved := orZero(spec.Placement.DeepCopy())
	if resolved.SchedulerName == corev1.DefaultSchedulerName {
		resolved.SchedulerName = "" // The default of the API server is no reason for other Pods.
	}
	for i := range resolved.TopologySpreadConstraints {
		constraint := &resolved.TopologySpreadConstraints[i]
		if constraint.LabelSelector == nil {
			constraint.LabelSelector = &metav1.LabelSelector{MatchLabels: names.Selector(instance)}
		}
	}
	return resolved
}

// placementProblems finds what the API server would reject, or interpret differently.
func placementProblems(placement cachev1.Placement) []string {
	var problems []string
	for i, toleration := range placement.Tolerations {
		if toleration.Key == "" && toleration.Operator != corev1.TolerationOpExists {
			problems = append(problems, fmt.Sprintf("spec.placement.tolerations[%d] has no key: "+
				"name one, or set operator to Exists for all taints", i))
		}
	}
	for i, term := range requiredTerms(placement.Affinity) {
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			problems = append(problems, fmt.Sprintf("spec.placement.affinity.nodeAffinity."+
				"requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[%d] is empty, "+
				"which selects no Node: remove it, or add a requirement", i))
		}
	}
	return problems
}

func requiredTerms(affinity *corev1.Affinity) []corev1.NodeSelectorTerm {
	if affinity == nil || affinity.NodeAffinity == nil {
		return nil
	}
	if required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		return required.NodeSelectorTerms
	}
	return nil
}
