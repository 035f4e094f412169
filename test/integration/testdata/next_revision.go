package render

import (
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// An operator that is built with this file, by an overlay of `go build`, acts like a later release: it has one more
// revision of the Pod template.
func init() {
	newest := slices.Max(Revisions())
	before := templates[newest]
	templates[newest+1] = func(pod plan.Pod) *corev1ac.PodTemplateSpecApplyConfiguration {
		next := before(pod)
		next.Spec.Containers[0].LivenessProbe.WithPeriodSeconds(11)
		return next
	}
}
