// Package inspect compares the architectures that the manifests promise with those that the images are there for.
package inspect

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

const (
	// Operator is what the operator's image is called here. Other containers' are called as the container is, and
	// those of the environment as the variable: RELATED_IMAGE_MEMCACHED makes memcached.
	Operator = "operator"

	// Agent is what the image of what runs beside memcached is called here.
	Agent = "agent"

	// Memcached is what the image of a Memcached that names none is called here.
	Memcached = "memcached"

	manager = "operator/config/manager"
)

// Promise is a place in the manifests that lets an image run on architectures.
type Promise struct {
	Source        string   `json:"source"` // a file or a folder
	Field         string   `json:"field"`
	Name          string   `json:"name"` // of the image
	Reference     string   `json:"reference"`
	Architectures []string `json:"architectures"` // empty: the place names none
}

// Promises reads the manifests of the repository at root.
func Promises(root string) ([]Promise, error) {
	var promises []Promise
	folders, err := kustomizations(root)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		found, err := built(root, folder)
		if err != nil {
			return nil, err
		}
		promises = append(promises, found...)
	}
	files, err := filepath.Glob(filepath.Join(root, "bundle/manifests/*.clusterserviceversion.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		found, err := bundled(root, file)
		if err != nil {
			return nil, err
		}
		promises = append(promises, found...)
	}
	return promises, nil
}

// kustomizations are the folders that hold a Deployment of the operator. A component is only a part of one.
func kustomizations(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "overlays/*/kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	folders := []string{manager}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		kustomization := metav1.TypeMeta{}
		if err := yaml.Unmarshal(content, &kustomization); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if kustomization.Kind != "Component" {
			folders = append(folders, filepath.Join("overlays", filepath.Base(filepath.Dir(file))))
		}
	}
	return folders, nil
}

func built(root, folder string) ([]Promise, error) {
	objects, err := kustomize.Build(filepath.Join(root, folder))
	if err != nil {
		return nil, err
	}
	var promises []Promise
	for _, object := range objects.Resources() {
		if object.GetKind() != "Deployment" {
			continue
		}
		content, err := object.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		deployment := &appsv1.Deployment{}
		if err := yaml.Unmarshal(content, deployment); err != nil {
			return nil, fmt.Errorf("%s: Deployment %s: %w", folder, object.GetName(), err)
		}
		promises = append(promises, ofDeployment(folder, deployment.Spec)...)
	}
	return promises, nil
}

// csv is what counts here of a ClusterServiceVersion.
type csv struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		Install struct {
			Spec struct {
				Deployments []struct{ Spec appsv1.DeploymentSpec }
			}
		}
	}
}

// archLabel begins the labels by which OLM knows where an operator runs.
const archLabel = "operatorframework.io/arch."

func bundled(root, file string) ([]Promise, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	source, err := filepath.Rel(root, file)
	if err != nil {
		return nil, err
	}
	c := &csv{}
	if err := yaml.Unmarshal(content, c); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	var promises []Promise
	for _, deployment := range c.Spec.Install.Spec.Deployments {
		promises = append(promises, ofDeployment(source, deployment.Spec)...)
		promises = append(promises, eachContainer(deployment.Spec, Promise{
			Source: source, Field: "the labels " + archLabel + "*", Architectures: labelled(c.Metadata.Labels),
		})...)
	}
	return promises, nil
}

// labelled are the architectures of a ClusterServiceVersion's labels. For OLM one without any runs on amd64.
func labelled(labels map[string]string) []string {
	var architectures []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		architecture, isArch := strings.CutPrefix(label, archLabel)
		if isArch && labels[label] == "supported" {
			architectures = append(architectures, architecture)
		}
	}
	if architectures == nil {
		return []string{"amd64"}
	}
	return architectures
}
