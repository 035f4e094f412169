package render

import (
	"maps"
	"slices"
	"strconv"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// templates are the Pod templates by revision. What a released one makes of a plan stays as it is: another template
// replaces the nodes of every cache. A change is a new revision, which a cache gets when its user lets it in
// (plan.Inputs); the old one stays for as long as caches may have it.
var templates = map[int]func(plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration{
	1: podTemplate,
	2: withPullPolicies,
}

// Revisions are those of the Pod template, the newest last.
func Revisions() []int {
	return slices.Sorted(maps.Keys(templates))
}

// template is the Pod template of the Deployment: the one that is deployed, if it is to be kept, with all that others
// have set in it; else that of the plan.
func template(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	if p.Template == plan.KeepTemplate {
		return configuration[corev1ac.PodTemplateSpecApplyConfiguration](p.Deployed.Spec.Template)
	}
	return inOrderOf(p.Deployed, rendered(p))
}

// rendered is the Pod template of the planned revision, which it names.
func rendered(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	return templates[p.Record.Revision](p).WithAnnotations(map[string]string{
		names.AnnotationTemplateRevision: strconv.Itoa(p.Record.Revision),
	})
}
