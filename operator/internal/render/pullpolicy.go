package render

import (
	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// withPullPolicies is the Pod template of revision 2: it always sets the pull policy. Without one, the API server
// derives a default from the image of that moment, and keeps it for the next image.
func withPullPolicies(p plan.Plan) *corev1ac.PodTemplateSpecApplyConfiguration {
	template := podTemplate(p)
	for _, containers := range [][]corev1ac.ContainerApplyConfiguration{
		template.Spec.InitContainers, template.Spec.Containers,
	} {
		for i := range containers {
			if container := &containers[i]; container.ImagePullPolicy == nil {
				container.WithImagePullPolicy(pullPolicyOf(*container.Image))
			}
		}
	}
	return template
}

// pullPolicyOf is Kubernetes' own rule: an image with the tag latest, or with neither tag nor digest, may change.
func pullPolicyOf(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	if tagged, ok := reference.TagNameOnly(named).(reference.Tagged); ok && tagged.Tag() == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
