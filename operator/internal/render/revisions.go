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
}

// Revisions are those of the Pod template, the newest last.
func Revisions() []int {
	return slices.Sorted(maps.Keys(templates))
}

// template is that of the planned revision, which it names.
func template(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	return templates[p.Record.Revision](p).WithAnnotations(map[string]string{
		names.AnnotationTemplateRevision: strconv.Itoa(p.Record.Revision),
	})
}
