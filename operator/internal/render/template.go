package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// Template is a rendered Pod template. Like an Object, it is applied once.
type Template struct {
	// Hash is equal for templates that make the same Pods.
	Hash string

	configuration *corev1ac.PodTemplateSpecApplyConfiguration
}

// NewTemplate renders the Pod template of a plan.
func NewTemplate(pod plan.Pod) Template {
	configuration := rendered(pod)
	return Template{Hash: hash(configuration), configuration: configuration}
}

// of returns the Pod template of the Deployment: the deployed one, with other clients' fields, if the plan keeps it;
// otherwise the rendered one.
func (t Template) of(p plan.Plan, deployed *appsv1.Deployment) *corev1ac.PodTemplateSpecApplyConfiguration {
	if p.Template == plan.KeepTemplate {
		return configuration[corev1ac.PodTemplateSpecApplyConfiguration](deployed.Spec.Template)
	}
	return inOrderOf(deployed, t.configuration)
}
