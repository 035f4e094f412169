package main

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/kustomize/api/pkg/util"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

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
	images := make([]types.Image, len(setImage))
	for i, arg := range setImage {
		if images[i], err = parseImage(arg, used); err != nil {
			return nil, fmt.Errorf("--set-image %q: %w", arg, err)
		}
	}
	return kustomize.Objects(dir, images...)
}

// imagesOf returns the names of the images of all Deployments, those in environment variables included, as in OLM.
func imagesOf(objects []*unstructured.Unstructured) ([]string, error) {
	deployments, err := kustomize.Deployments(objects)
	names := sets.New[string]()
	for _, deployment := range deployments {
		pod := deployment.Spec.Template.Spec
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			refs := []string{container.Image}
			for _, variable := range container.Env {
				if strings.HasPrefix(variable.Name, "RELATED_IMAGE_") && variable.Value != "" {
					refs = append(refs, variable.Value)
				}
			}
			for _, ref := range refs {
				name, _, _ := util.SplitImageName(ref)
				names.Insert(name)
			}
		}
	}
	return sets.List(names), err
}

// parseImage reads NAME=REF. NAME is the name of a used image, or the last part of it.
func parseImage(arg string, used []string) (types.Image, error) {
	name, ref, found := strings.Cut(arg, "=")
	if !found || name == "" {
		return types.Image{}, errors.New("write NAME=REF, such as " +
			"memcached-operator=localhost:5001/memcached-operator:dev")
	}
	parsed, err := reference.Parse(ref)
	if _, isNamed := parsed.(reference.Named); !isNamed {
		return types.Image{}, fmt.Errorf("%q is no image reference: %w", ref, cmp.Or(err, reference.ErrNameEmpty))
	}
	matches := slices.DeleteFunc(slices.Clone(used), func(full string) bool {
		return full != name && path.Base(full) != name
	})
	if len(matches) != 1 {
		return types.Image{}, fmt.Errorf("%d images have that name; write one of these in full: %s",
			len(matches), strings.Join(used, ", "))
	}
	image := types.Image{Name: matches[0]}
	image.NewName, image.NewTag, image.Digest = util.SplitImageName(ref)
	return image, nil
}
