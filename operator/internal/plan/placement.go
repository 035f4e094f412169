package plan

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// placement fills in the spread: nodes of a cache prefer different machines and zones, so that not all of it is
// lost with one.
func placement(spec cachev1.MemcachedSpec, instance string) cachev1.Placement {
	resolved := orZero(spec.Placement.DeepCopy())
	if resolved.TopologySpreadConstraints == nil {
		resolved.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			softSpread(corev1.LabelHostname),
			softSpread(corev1.LabelTopologyZone),
		}
	}
	for i := range resolved.TopologySpreadConstraints {
		constraint := &resolved.TopologySpreadConstraints[i]
		if constraint.LabelSelector == nil {
			constraint.LabelSelector = &metav1.LabelSelector{MatchLabels: names.Selector(instance)}
		}
	}
	return resolved
}

func softSpread(topologyKey string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: topologyKey, WhenUnsatisfiable: corev1.ScheduleAnyway,
	}
}
