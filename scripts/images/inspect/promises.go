// Package inspect compares the architectures that the manifests promise with those that the images support.
package inspect

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// Names of images. That of another container is the container's; that of an image in the environment follows from the
// variable: RELATED_IMAGE_MEMCACHED is memcached.
const (
	Operator  = "operator"
	Agent     = "agent"
	Memcached = "memcached"
)

const (
	manager       = "operator/config/manager"
	relatedImage  = "RELATED_IMAGE_"
	architectures = "OPERAND_ARCHITECTURES"
	archLabel     = "operatorframework.io/arch." // prefix of the labels by which OLM selects Nodes for an operator
)

// Promise is a field of the manifests that lets an image run on architectures.
type Promise struct {
	Source        string   `json:"source"` // a file or a directory
	Field         string   `json:"field"`
	Name          string   `json:"name"` // of the image
	Reference     string   `json:"reference"`
	Architectures []string `json:"architectures"` // empty: the field names none
}

// Promises reads the overlays, the manager's manifests and the bundle of the repository at root.
func Promises(root string) ([]Promise, error) {
	overlays, err := filepath.Glob(filepath.Join(root, "overlays/*/kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	var promises []Promise
	for _, file := range append([]string{filepath.Join(root, manager, "kustomization.yaml")}, overlays...) {
		found, err := ofKustomization(root, file)
		if err != nil {
			return nil, err
		}
		promises = append(promises, found...)
	}
	bundled, err := filepath.Glob(filepath.Join(root, "bundle/manifests/*.clusterserviceversion.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range bundled {
		found, err := ofBundle(root, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		promises = append(promises, found...)
	}
	return promises, nil
}

// ofKustomization reads the Deployments of a kustomization. A Component has none of its own.
func ofKustomization(root, file string) ([]Promise, error) {
	content, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(content), "kind: Component\n") {
		return nil, err
	}
	source, err := filepath.Rel(root, filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	objects, err := kustomize.Objects(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	var promises []Promise
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		var deployment appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment); err != nil {
			return nil, fmt.Errorf("%s: Deployment %s: %w", source, object.GetName(), err)
		}
		promises = append(promises, ofDeployment(source, deployment.Spec)...)
	}
	return promises, nil
}

func ofBundle(root, file string) ([]Promise, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	source, err := filepath.Rel(root, file)
	if err != nil {
		return nil, err
	}
	var csv struct {
		Metadata metav1.ObjectMeta
		Spec     struct {
			Install struct {
				Spec struct {
					Deployments []struct{ Spec appsv1.DeploymentSpec }
				}
			}
		}
	}
	if err := yaml.Unmarshal(content, &csv); err != nil {
		return nil, err
	}
	var promises []Promise
	for _, deployment := range csv.Spec.Install.Spec.Deployments {
		promises = append(promises, ofDeployment(source, deployment.Spec)...)
		promises = append(promises, ofContainers(deployment.Spec, Promise{
			Source: source, Field: "the labels " + archLabel + "*", Architectures: labelled(csv.Metadata.Labels),
		})...)
	}
	return promises, nil
}

// labelled returns the architectures of a ClusterServiceVersion's labels; for OLM one without any runs on amd64.
func labelled(labels map[string]string) []string {
	var found []string
	for label, value := range labels {
		if architecture, isArch := strings.CutPrefix(label, archLabel); isArch && value == "supported" {
			found = append(found, architecture)
		}
	}
	if found == nil {
		return []string{"amd64"}
	}
	slices.Sort(found)
	return found
}

// ofDeployment reads the node affinity for the Deployment's own images, and the environment for those of caches.
func ofDeployment(source string, spec appsv1.DeploymentSpec) []Promise {
	promises := ofContainers(spec, Promise{
		Source: source, Field: "the node affinity", Architectures: landing(spec.Template.Spec),
	})
	for _, container := range spec.Template.Spec.Containers {
		var operand []string
		for _, variable := range container.Env {
			if variable.Name == architectures {
				operand = strings.FieldsFunc(variable.Value, func(r rune) bool { return r == ',' || r == ' ' })
			}
		}
		for _, variable := range container.Env {
			if name, isImage := strings.CutPrefix(variable.Name, relatedImage); isImage {
				promises = append(promises, Promise{
					Source: source, Field: architectures, Architectures: operand,
					Name: strings.ReplaceAll(strings.ToLower(name), "_", "-"), Reference: variable.Value,
				})
			}
		}
	}
	return promises
}

// ofContainers makes a promise for the image of each container.
func ofContainers(spec appsv1.DeploymentSpec, promise Promise) []Promise {
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

// landing returns the architectures that a Pod is restricted to, none if it is not. A Node has to match one of the
// terms, and all expressions of a term.
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
		allowed := matching(term)
		if allowed == nil {
			return nil
		}
		for _, architecture := range allowed {
			all[architecture] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// matching returns the architectures that match a term, nil for any.
func matching(term corev1.NodeSelectorTerm) []string {
	var allowed []string
	for _, expression := range term.MatchExpressions {
		if expression.Key != corev1.LabelArchStable || expression.Operator != corev1.NodeSelectorOpIn {
			continue
		}
		if allowed == nil {
			allowed = expression.Values
		}
		allowed = slices.DeleteFunc(slices.Clone(allowed), func(architecture string) bool {
			return !slices.Contains(expression.Values, architecture)
		})
	}
	return allowed
}
