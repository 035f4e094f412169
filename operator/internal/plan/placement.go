package plan

// Topology constraints, and errors in the placement.

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// placement returns the placement of the spec. It adds topology constraints for zones, and selects the Pods by their
// labels in constraints that have no selector. If the spec does not set zones, placement adds no constraints: the
// scheduler spreads the Pods of a Service over Nodes and zones by default. Soft constraints would be worse, because the
// scheduler ignores Nodes that do not have the labels of all constraints. In a cluster without zones, it would ignore
// all Nodes.
func placement(spec cachev1.MemcachedSpec, instance string) cachev1.Placement {
	resolved := orZero(spec.Placement.DeepCopy())
	if resolved.SchedulerName == corev1.DefaultSchedulerName {
		resolved.SchedulerName = "" // Writing out the API server's default must not replace the Pods.
	}
	if resolved.Zones != "" {
		resolved.TopologySpreadConstraints = append(zoneConstraints(resolved), resolved.TopologySpreadConstraints...)
	}
	resolved.Zones, resolved.Architectures, resolved.PreferredArchitectures = "", nil, nil // Pod has them elsewhere.
	for i := range resolved.TopologySpreadConstraints {
		constraint := &resolved.TopologySpreadConstraints[i]
		if constraint.LabelSelector == nil {
			constraint.LabelSelector = &metav1.LabelSelector{MatchLabels: names.Selector(instance)}
		}
	}
	return resolved
}

// zoneConstraints spreads the Pods of a ReplicaSet over zones, and also over Nodes, because any constraint disables the
// spread that the scheduler does by default. A zone whose Nodes are all cordoned does not count.
func zoneConstraints(placement cachev1.Placement) []corev1.TopologySpreadConstraint {
	zones := corev1.TopologySpreadConstraint{
		TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway,
		MatchLabelKeys: []string{appsv1.DefaultDeploymentUniqueLabelKey},
	}
	if placement.Zones == cachev1.SpreadRequired {
		zones.WhenUnsatisfiable = corev1.DoNotSchedule
		zones.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
	}
	constraints := []corev1.TopologySpreadConstraint{zones}
	isOfNodes := func(constraint corev1.TopologySpreadConstraint) bool {
		return constraint.TopologyKey == corev1.LabelHostname
	}
	if !slices.ContainsFunc(placement.TopologySpreadConstraints, isOfNodes) {
		constraints = append(constraints, corev1.TopologySpreadConstraint{
			TopologyKey: corev1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway,
			MatchLabelKeys: []string{appsv1.DefaultDeploymentUniqueLabelKey},
		})
	}
	return constraints
}

// placementProblems finds values that the API server would reject, or interpret differently.
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
