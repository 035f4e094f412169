// Package inspect compares the architectures that the manifests promise with those that the images support.
package inspect

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// These are names of images. The image of another container has the container's name. The name of an image in the
// environment follows from its variable: the image in RELATED_IMAGE_MEMCACHED is memcached.
const (
	Operator  = "operator"
	Agent     = "agent"
	Snapshot  = "snapshot"
	Memcached = "memcached"
)

// These are the fields that promise architectures. OLM selects Nodes for an operator by the labels of its bundle.
const (
	affinity  = "the node affinity"
	operand   = "OPERAND_ARCHITECTURES"
	archLabel = "operatorframework.io/arch."
)

// Promise is a field of the manifests that allows an image to run on Nodes with some architectures.
type Promise struct {
	Source        string // a file or a directory
	Field         string
	Name          string // name of the image
	Reference     string
	Architectures []string // empty: the field names none
}

// Promises reads the manager's manifests, the overlays and the bundle of the repository at root.
func Promises(root string) (promises []Promise, err error) {
	overlays, err := fs.Glob(os.DirFS(root), "overlays/*/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range append([]string{"operator/config/manager/kustomization.yaml"}, overlays...) {
		source := path.Dir(file)
		objects, err := kustomize.Objects(filepath.Join(root, source))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		for _, object := range objects {
			if object.GetKind() != "Deployment" {
				continue
			}
			deployment := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
				return nil, fmt.Errorf("%s: Deployment %s: %w", source, object.GetName(), err)
			}
			promises = append(promises, ofPod(source, deployment.Spec.Template.Spec)...)
		}
	}
	bundled, err := ofBundle(root)
	return append(promises, bundled...), err
}

func ofBundle(root string) (promises []Promise, err error) {
	files, err := bundle.Read(filepath.Join(root, bundle.Dir))
	if err != nil {
		return nil, err
	}
	csv, err := files.Version()
	if err != nil {
		return nil, err
	}
	for _, deployment := range csv.Spec.Install.Spec.Deployments {
		promises = append(promises, ofPod(path.Join(bundle.Dir, bundle.CSVFile), deployment.Spec.Template.Spec)...)
	}
	labels := labelled(csv.Metadata.Labels)
	for _, promise := range promises {
		if promise.Field == affinity {
			promise.Field, promise.Architectures = "the labels "+archLabel+"*", labels
			promises = append(promises, promise)
		}
	}
	return promises, nil
}

// labelled returns the architectures in the labels of a ClusterServiceVersion. Like OLM, it returns amd64 for a
// ClusterServiceVersion without such a label.
func labelled(labels map[string]string) []string {
	found := sets.New[string]()
	for label, value := range labels {
		if architecture, isArch := strings.CutPrefix(label, archLabel); isArch && value == "supported" {
			found.Insert(architecture)
		}
	}
	if len(found) == 0 {
		found.Insert("amd64")
	}
	return sets.List(found)
}

// ofPod returns the promises of a Pod: the node affinity is a promise about the images of its containers, and an
// environment variable of a container is a promise about the images of caches.
func ofPod(source string, pod corev1.PodSpec) (promises []Promise) {
	nodes := landing(pod)
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		name := container.Name
		if name == "manager" {
			name = Operator
		}
		promises = append(promises, Promise{
			Source: source, Field: affinity, Name: name, Reference: container.Image, Architectures: nodes,
		})
		var architectures []string
		for _, variable := range container.Env {
			if variable.Name == operand {
				architectures = strings.FieldsFunc(variable.Value, func(r rune) bool { return r == ',' || r == ' ' })
			}
		}
		for _, variable := range container.Env {
			if image, isImage := strings.CutPrefix(variable.Name, "RELATED_IMAGE_"); isImage {
				promises = append(promises, Promise{
					Source: source, Field: operand, Name: strings.ReplaceAll(strings.ToLower(image), "_", "-"),
					Reference: variable.Value, Architectures: architectures,
				})
			}
		}
	}
	return promises
}

// landing returns the architectures of the Nodes to which a Pod is restricted, or none if it is not restricted. A Node
// has to match only one of the terms of the Pod's node affinity.
func landing(pod corev1.PodSpec) []string {
	if architecture := pod.NodeSelector[corev1.LabelArchStable]; architecture != "" {
		return []string{architecture}
	}
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil ||
		pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	all := sets.New[string]()
	for _, term := range pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		i := slices.IndexFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return e.Key == corev1.LabelArchStable && e.Operator == corev1.NodeSelectorOpIn
		})
		if i < 0 {
			return nil
		}
		all.Insert(term.MatchExpressions[i].Values...)
	}
	return sets.List(all)
}
