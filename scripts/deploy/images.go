package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/types"
)

// replacements reads the NAME=REF of --set-image for images that a build uses.
func replacements(objects []*unstructured.Unstructured, args []string) ([]types.Image, error) {
	used := imagesOf(objects)
	var images []types.Image
	for _, arg := range args {
		image, err := parseImage(arg)
		if err != nil {
			return nil, err
		}
		if image.Name, err = fullName(image.Name, used); err != nil {
			return nil, fmt.Errorf("--set-image %s: %w", arg, err)
		}
		images = append(images, image)
	}
	return images, nil
}

// fullName finds the image that is meant: by its whole name, or by the last part of it.
func fullName(name string, used []string) (string, error) {
	var matches []string
	for _, image := range used {
		if full := nameOfImage(image); full == name || path.Base(full) == name {
			matches = append(matches, full)
		}
	}
	slices.Sort(matches)
	switch matches = slices.Compact(matches); len(matches) {
	case 0:
		return "", fmt.Errorf("no container has an image of that name, there are: %s", strings.Join(used, ", "))
	case 1:
		return matches[0], nil
	}
	return "", fmt.Errorf("several images have that name, write one of them whole: %s", strings.Join(matches, ", "))
}

// nameOfImage is an image's reference without tag and digest.
func nameOfImage(image string) string {
	named, err := reference.Parse(image)
	if err != nil {
		return image
	}
	if named, ok := named.(reference.Named); ok {
		return named.Name()
	}
	return image
}

// relatedImage is how the name of an environment variable begins whose value is an image: so it is with OLM.
const relatedImage = "RELATED_IMAGE_"

// imagesOf are the images that a build names: those of its containers, and those that they are told of.
func imagesOf(objects []*unstructured.Unstructured) []string {
	var images []string
	for _, object := range objects {
		for _, c := range containersOf(object) {
			if image, ok := c["image"].(string); ok {
				images = append(images, image)
			}
			images = append(images, relatedImages(c)...)
		}
	}
	slices.Sort(images)
	return slices.Compact(images)
}

func relatedImages(container map[string]any) []string {
	var images []string
	variables, _ := container["env"].([]any)
	for _, item := range variables {
		variable, _ := item.(map[string]any)
		name, _ := variable["name"].(string)
		if value, _ := variable["value"].(string); strings.HasPrefix(name, relatedImage) && value != "" {
			images = append(images, value)
		}
	}
	return images
}

func parseImage(arg string) (types.Image, error) {
	name, ref, found := strings.Cut(arg, "=")
	if !found || name == "" {
		return types.Image{}, fmt.Errorf("--set-image %q: write NAME=REF, such as "+
			"memcached-operator=localhost:5001/memcached-operator:dev", arg)
	}
	parsed, err := reference.Parse(ref)
	if err != nil {
		return types.Image{}, fmt.Errorf("--set-image %q: %q is no image reference: %w", arg, ref, err)
	}
	named, ok := parsed.(reference.Named)
	if !ok {
		return types.Image{}, fmt.Errorf("--set-image %q: %q has no image name", arg, ref)
	}
	image := types.Image{Name: name, NewName: named.Name()}
	if tagged, ok := parsed.(reference.Tagged); ok {
		image.NewTag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		image.Digest = digested.Digest().String()
	}
	return image, nil
}
