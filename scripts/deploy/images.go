package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"github.com/fluxcd/pkg/ssa/utils"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// relatedImage is the prefix of environment variables that contain an image, as in OLM.
const relatedImage = "RELATED_IMAGE_"

// build renders the kustomization in dir, with the images of --set-image.
func build(dir string, setImage []string) ([]*unstructured.Unstructured, error) {
	objects, err := kustomize.Objects(dir)
	if err != nil || len(setImage) == 0 {
		return objects, err
	}
	used, err := imagesOf(objects)
	if err != nil {
		return nil, err
	}
	var images []types.Image
	for _, arg := range setImage {
		image, err := parseImage(arg, used)
		if err != nil {
			return nil, fmt.Errorf("--set-image %q: %w", arg, err)
		}
		images = append(images, image)
	}
	return kustomize.Objects(dir, images...)
}

// imagesOf returns the images of all Deployments, those in environment variables included.
func imagesOf(objects []*unstructured.Unstructured) ([]string, error) {
	var images []string
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		var deployment appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment); err != nil {
			return nil, fmt.Errorf("%s: %w", utils.FmtUnstructured(object), err)
		}
		pod := deployment.Spec.Template.Spec
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			images = append(images, container.Image)
			for _, variable := range container.Env {
				if strings.HasPrefix(variable.Name, relatedImage) && variable.Value != "" {
					images = append(images, variable.Value)
				}
			}
		}
	}
	slices.Sort(images)
	return slices.Compact(images), nil
}

// parseImage reads NAME=REF. NAME is the name of a used image, or the last part of it.
func parseImage(arg string, used []string) (types.Image, error) {
	name, ref, found := strings.Cut(arg, "=")
	if !found || name == "" {
		return types.Image{}, fmt.Errorf("write NAME=REF, such as " +
			"memcached-operator=localhost:5001/memcached-operator:dev")
	}
	parsed, err := reference.Parse(ref)
	if _, isNamed := parsed.(reference.Named); !isNamed {
		return types.Image{}, fmt.Errorf("%q is no image reference: %w", ref, cmp.Or(err, reference.ErrNameEmpty))
	}
	image := types.Image{NewName: nameOf(ref)}
	if tagged, ok := parsed.(reference.Tagged); ok {
		image.NewTag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		image.Digest = digested.Digest().String()
	}
	var matches []string
	for _, full := range used {
		if full = nameOf(full); (full == name || path.Base(full) == name) && !slices.Contains(matches, full) {
			matches = append(matches, full)
		}
	}
	switch len(matches) {
	case 0:
		return image, fmt.Errorf("no container has an image of that name; the images are: %s", strings.Join(used, ", "))
	case 1:
		image.Name = matches[0]
		return image, nil
	default:
		return image, fmt.Errorf("several images have that name; write one in full: %s", strings.Join(matches, ", "))
	}
}

// nameOf returns an image's reference without tag and digest.
func nameOf(ref string) string {
	if named, err := reference.Parse(ref); err == nil {
		if named, ok := named.(reference.Named); ok {
			return named.Name()
		}
	}
	return ref
}
