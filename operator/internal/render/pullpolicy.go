package render

// The pull policy of the images of a Pod.

import (
	"cmp"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// pullPolicy returns the pull policy of an image of the Pods. The template always sets it: otherwise the API server
// derives a default from the image of that moment, and keeps it for the next image.
func pullPolicy(p plan.Pod, image string) corev1.PullPolicy {
	return cmp.Or(p.PullPolicy, pullPolicyOf(image))
}

// pullPolicyOf follows Kubernetes' own rule: an image with the tag latest, or with neither tag nor digest, may change.
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
