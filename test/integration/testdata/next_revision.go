package render

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// An operator that has this file in it, by an overlay of `go build`, is one of a later release: it has one revision
// more of the Pod template.
func init() {
	templates[Revisions()[len(templates)-1]+1] = func(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
		next := podTemplate(p)
		next.Spec.WithTerminationGracePeriodSeconds(*next.Spec.TerminationGracePeriodSeconds + 1)
		return next
	}
}
