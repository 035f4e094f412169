package inspect

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	relatedImage  = "RELATED_IMAGE_"
	architectures = "OPERAND_ARCHITECTURES"
)

// ofDeployment reads what a Deployment of the operator promises: its own images by where its Pods may land, and those
// that it is to run by its environment.
func ofDeployment(source string, spec appsv1.DeploymentSpec) []Promise {
	promises := eachContainer(spec, Promise{
		Source: source, Field: "the node affinity", Architectures: landing(spec.Template.Spec),
	})
	for _, container := range spec.Template.Spec.Containers {
		operand := listed(container.Env)
		for _, variable := range container.Env {
			if name, isImage := strings.CutPrefix(variable.Name, relatedImage); isImage {
				promises = append(promises, Promise{
					Source: source, Field: architectures, Architectures: operand,
					Name:      strings.ReplaceAll(strings.ToLower(name), "_", "-"),
					Reference: variable.Value,
				})
			}
		}
	}
	return promises
}

// eachContainer makes a promise for the image of each container. The manager's is the operator's.
func eachContainer(spec appsv1.DeploymentSpec, promise Promise) []Promise {
	var promises []Promise
	pod := spec.Template.Spec
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		promise.Name, promise.Reference = container.Name, container.Image
		if container.Name == "manager" {
			promise.Name = Operator
		}
		promises = append(promises, promise)
	}
	return promises
}

func listed(env []corev1.EnvVar) []string {
	for _, variable := range env {
		if variable.Name == architectures {
			return strings.FieldsFunc(variable.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return nil
}

// landing are the architectures that a Pod is confined to, sorted; none if it is not. A Pod lands where one of the
// terms holds, and a term holds where all its expressions do.
func landing(pod corev1.PodSpec) []string {
	if architecture := pod.NodeSelector[corev1.LabelArchStable]; architecture != "" {
		return []string{architecture}
	}
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil ||
		pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	all := map[string]bool{}
	for _, term := range pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		confined := confinement(term)
		if confined == nil {
			return nil
		}
		for _, architecture := range confined {
			all[architecture] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func confinement(term corev1.NodeSelectorTerm) []string {
	var confined []string
	for _, expression := range term.MatchExpressions {
		if expression.Key != corev1.LabelArchStable || expression.Operator != corev1.NodeSelectorOpIn {
			continue
		}
		if confined == nil {
			confined = expression.Values
			continue
		}
		confined = slices.DeleteFunc(slices.Clone(confined), func(architecture string) bool {
			return !slices.Contains(expression.Values, architecture)
		})
	}
	return confined
}
