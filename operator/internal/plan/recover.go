package plan

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// recovered reads from a Pod template what it was made of. One that does not name its revision is of somebody else's
// making, and is replaced by another one anyway.
func recovered(spec cachev1.MemcachedSpec, template corev1.PodTemplateSpec, now Inputs) (Inputs, bool) {
	image := imageOf(template.Spec.Containers, names.Container)
	revision, err := strconv.Atoi(template.Annotations[names.AnnotationTemplateRevision])
	if err != nil || revision < 1 || image == "" {
		return Inputs{}, false
	}
	inputs := Inputs{Revision: revision, Platform: platformOf(template, now.Platform)}
	if spec.Image == "" {
		inputs.Image = image
	}
	if needsAgent(spec) {
		inputs.Agent = cmp.Or(imageOf(template.Spec.InitContainers, names.Agent), now.Agent)
	}
	if len(spec.Architectures) == 0 {
		inputs.Architectures = architecturesOf(template)
	}
	return inputs, true
}

func imageOf(containers []corev1.Container, name string) string {
	for _, container := range containers {
		if container.Name == name {
			return container.Image
		}
	}
	return ""
}

// architecturesOf reads the rule of the architectures, which follows that of the operating system at the head of each
// required term.
func architecturesOf(template corev1.PodTemplateSpec) []string {
	terms := requiredTerms(template.Spec.Affinity)
	if len(terms) == 0 || len(terms[0].MatchExpressions) < 2 {
		return nil
	}
	rule := terms[0].MatchExpressions[1]
	if rule.Key != corev1.LabelArchStable || rule.Operator != corev1.NodeSelectorOpIn {
		return nil
	}
	return rule.Values
}

// platformOf goes by the user. One that no operator sets tells nothing.
func platformOf(template corev1.PodTemplateSpec, now Platform) Platform {
	security := template.Spec.SecurityContext
	switch {
	case security == nil || security.RunAsUser == nil:
		return OpenShift
	case *security.RunAsUser == names.UserID:
		return Kubernetes
	}
	return now
}
