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
var templates = map[int]func(plan.Pod) *corev1ac.PodTemplateSpecApplyConfiguration{
	1: podTemplate,
}

// Revisions returns the revisions of the Pod template, the newest last.
func Revisions() []int {
	return slices.Sorted(maps.Keys(templates))
}

// rendered returns the Pod template of the Pod's revision, with the number of the revision in an annotation.
func rendered(pod plan.Pod) *corev1ac.PodTemplateSpecApplyConfiguration {
	return templates[pod.Revision](pod).WithAnnotations(map[string]string{
		names.AnnotationTemplateRevision: strconv.Itoa(pod.Revision),
	})
}
