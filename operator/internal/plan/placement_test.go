package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// spread is a constraint for the Pods of a ReplicaSet of the cache.
func spread(key string, otherwise corev1.UnsatisfiableConstraintAction) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: otherwise, MatchLabelKeys: []string{"pod-template-hash"},
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "memcached", "memcached_cr": "cache"}},
	}
}

func TestPlacementAndPodTemplate(t *testing.T) {
	check(t, map[string]planCase{
		"architectures of the user's own take the place of the operator's": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{Architectures: []cachev1.Architecture{"s390x", "amd64"}}},
			want: func(p *Plan) { p.Architectures = []string{"s390x", "amd64"} },
		},
		"a spread constraint without a selector counts this cache": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway",
				}},
			}},
			want: func(p *Plan) {
				p.Placement.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: "ScheduleAnyway",
					LabelSelector: &metav1.LabelSelector{
						MatchLabels: map[string]string{"app": "memcached", "memcached_cr": "cache"},
					},
				}}
			},
		},
		"Pods that have to spread over zones, and over Nodes where they can": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{Zones: cachev1.SpreadRequired}},
			want: func(p *Plan) {
				zones, nodes := spread("topology.kubernetes.io/zone", "DoNotSchedule"), spread("kubernetes.io/hostname", "ScheduleAnyway")
				zones.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
				p.Placement.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zones, nodes}
			},
		},
		"Pods that spread over zones where they can, with a constraint of the user's own for Nodes": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{
				Zones: cachev1.SpreadPreferred, TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
					spread("kubernetes.io/hostname", "DoNotSchedule"),
				},
			}},
			want: func(p *Plan) {
				p.Placement.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
					spread("topology.kubernetes.io/zone", "ScheduleAnyway"), spread("kubernetes.io/hostname", "DoNotSchedule"),
				}
			},
		},
		"the ServiceAccount that Pods have anyway, and an empty DNS configuration": {
			spec: cachev1.MemcachedSpec{PodTemplate: &cachev1.PodTemplate{
				ServiceAccountName: "default", DNSConfig: &cachev1.DNSConfig{},
			}},
			want: func(*Plan) {},
		},
		"options of the resolver in any order": {
			spec: cachev1.MemcachedSpec{PodTemplate: &cachev1.PodTemplate{DNSConfig: &cachev1.DNSConfig{
				Options: []cachev1.DNSOption{{Name: "ndots", Value: "2"}, {Name: "edns0"}},
			}}},
			want: func(p *Plan) {
				p.PodTemplate.DNSConfig = &cachev1.DNSConfig{Options: []cachev1.DNSOption{{Name: "edns0"}, {Name: "ndots", Value: "2"}}}
			},
		},
		"the API server's own default of a scheduler": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{SchedulerName: "default-scheduler"}},
			want: func(*Plan) {},
		},
		"another scheduler and a runtime class": {
			spec: cachev1.MemcachedSpec{Placement: &cachev1.Placement{SchedulerName: "batch", RuntimeClassName: "sandbox"}},
			want: func(p *Plan) { p.Placement = cachev1.Placement{SchedulerName: "batch", RuntimeClassName: "sandbox"} },
		},
	})
}
