package render

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// place sets where the Pods may run: the user's placement, and only Nodes for which there is an image.
func place(spec *corev1ac.PodSpecApplyConfiguration, p plan.Pod) {
	spec.WithAffinity(configuration[corev1ac.AffinityApplyConfiguration](affinity(p)))
	if len(p.Placement.NodeSelector) > 0 {
		spec.WithNodeSelector(p.Placement.NodeSelector)
	}
	for _, toleration := range p.Placement.Tolerations {
		spec.WithTolerations(configuration[corev1ac.TolerationApplyConfiguration](toleration))
	}
	for _, constraint := range p.Placement.TopologySpreadConstraints {
		spec.WithTopologySpreadConstraints(
			configuration[corev1ac.TopologySpreadConstraintApplyConfiguration](constraint))
	}
	if p.Placement.PriorityClassName != "" {
		spec.WithPriorityClassName(p.Placement.PriorityClassName)
	}
	if p.Placement.SchedulerName != "" {
		spec.WithSchedulerName(p.Placement.SchedulerName)
	}
	if p.Placement.RuntimeClassName != "" {
		spec.WithRuntimeClassName(p.Placement.RuntimeClassName)
	}
}

// affinity adds the expression for the architectures to the user's affinity. Required terms are alternatives, so the
// expression is added to each term.
func affinity(p plan.Pod) *corev1.Affinity {
	merged := p.Placement.Affinity.DeepCopy()
	if merged == nil {
		merged = &corev1.Affinity{}
	}
	if merged.NodeAffinity == nil {
		merged.NodeAffinity = &corev1.NodeAffinity{}
	}
	nodes := merged.NodeAffinity
	if nodes.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		nodes.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	}
	required := nodes.RequiredDuringSchedulingIgnoredDuringExecution
	if len(required.NodeSelectorTerms) == 0 {
		required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	}
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		term.MatchExpressions = append(architectureRule(p), term.MatchExpressions...)
	}
	for _, preferred := range p.PreferredArchitectures {
		nodes.PreferredDuringSchedulingIgnoredDuringExecution = append(
			nodes.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: preferred.Weight, Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					in(corev1.LabelArchStable, string(preferred.Architecture)),
				},
			}})
	}
	return merged
}

func architectureRule(p plan.Pod) []corev1.NodeSelectorRequirement {
	rule := []corev1.NodeSelectorRequirement{in(corev1.LabelOSStable, "linux")}
	if len(p.Architectures) > 0 {
		rule = append(rule, in(corev1.LabelArchStable, p.Architectures...))
	}
	return rule
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}
