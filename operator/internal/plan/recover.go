package plan

// Restores a record that was lost, from the Pod template.

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/names"
)

// Fields of a Deployment that show what its Pods are made from.
var (
	revisionPath = fieldpath.MakePathOrDie(
		"spec", "template", "metadata", "annotations", names.AnnotationTemplateRevision)
	imagePath = fieldpath.MakePathOrDie(
		"spec", "template", "spec", "containers", fieldpath.KeyByFields("name", names.Container), "image")
	agentPath = fieldpath.MakePathOrDie(
		"spec", "template", "spec", "initContainers", fieldpath.KeyByFields("name", names.Agent), "image")
	architecturesPath = fieldpath.MakePathOrDie("spec", "template", "spec", "affinity", "nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution") // It is atomic.
	gatesPath   = fieldpath.MakePathOrDie("spec", "template", "spec", "readinessGates") // It is atomic.
	userPath    = fieldpath.MakePathOrDie("spec", "template", "spec", "securityContext", "runAsUser")
	nonRootPath = fieldpath.MakePathOrDie("spec", "template", "spec", "securityContext", "runAsNonRoot")
)

// recovered reads the inputs from the Pod template when no record exists. Only fields that the operator owns count. A
// template without a revision was written by another client.
func recovered(spec cachev1.MemcachedSpec, live *appsv1.Deployment, now Inputs) (Inputs, bool) {
	template := live.Spec.Template
	revision, err := strconv.Atoi(template.Annotations[names.AnnotationTemplateRevision])
	if err != nil || revision < 1 || !drift.Owns(live, revisionPath) {
		return Inputs{}, false
	}
	now.Revision = revision
	now.Memory = 0 // See startMemory.
	now.Slots = drift.Owns(live, gatesPath)
	if image := imageOf(template.Spec.Containers, names.Container); spec.Image == "" && drift.Owns(live, imagePath) {
		now.Image = image
	}
	if image := imageOf(template.Spec.InitContainers, names.Agent); image != "" && drift.Owns(live, agentPath) {
		now.Agent = image
	}
	if len(orZero(spec.Placement).Architectures) == 0 && drift.Owns(live, architecturesPath) {
		now.Architectures = architecturesOf(template)
	}
	switch {
	case drift.Owns(live, userPath):
		now.Platform = Kubernetes
	case drift.Owns(live, nonRootPath):
		now.Platform = OpenShift // On OpenShift, the operator sets no user.
	}
	return now, now.Platform != ""
}

func imageOf(containers []corev1.Container, name string) string {
	return containerOf(containers, name).Image
}

// containerOf returns the container with this name, or an empty container.
func containerOf(containers []corev1.Container, name string) corev1.Container {
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return corev1.Container{}
	}
	return containers[i]
}

// architecturesOf reads the architectures from the node affinity: their expression is the second of each required term,
// after the expression for the operating system.
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
