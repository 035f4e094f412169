package render

import (
	"maps"
	"slices"
	"strconv"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// templates are the Pod templates by revision. A released revision never changes: another template would replace the
// Pods of every cache. A change is a new revision, which a cache gets with its next update (plan.Inputs); old
// revisions stay for the caches that have them.
var templates = map[int]func(plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration{
	1: podTemplate,
}

// Revisions returns the revisions of the Pod template, the newest last.
func Revisions() []int {
	return slices.Sorted(maps.Keys(templates))
}

// template returns the Pod template of the Deployment: the deployed one, with other clients' fields, if the plan
// keeps it; otherwise the rendered one.
func template(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	if p.Template == plan.KeepTemplate {
		return configuration[corev1ac.PodTemplateSpecApplyConfiguration](p.Deployed.Spec.Template)
	}
	return inOrderOf(p.Deployed, rendered(p))
}

// rendered returns the Pod template of the planned revision, which it records in an annotation.
func rendered(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	return templates[p.Record.Revision](p).WithAnnotations(map[string]string{
		names.AnnotationTemplateRevision: strconv.Itoa(p.Record.Revision),
	})
}
