package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// build renders the kustomization in dir, with the images of --set-image.
func build(dir string, images []string) ([]*unstructured.Unstructured, error) {
	built, err := kustomize.Build(dir)
	if err != nil {
		return nil, err
	}
	text, err := built.AsYaml()
	for _, image := range images {
		if err == nil {
			text, err = setImage(text, image)
		}
	}
	if err != nil {
		return nil, err
	}
	return utils.ReadObjects(bytes.NewReader(text))
}

// setImage replaces an image of the manifests, in containers and, as in OLM, in environment variables. The argument is
// NAME=REF, where NAME is the image's name or the last part of it.
func setImage(manifests []byte, arg string) ([]byte, error) {
	name, ref, _ := strings.Cut(arg, "=")
	if _, err := reference.ParseNormalizedNamed(ref); err != nil || name == "" {
		return nil, fmt.Errorf("--set-image %q: write NAME=REF, such as "+
			"memcached-operator=localhost:5001/memcached-operator:dev: %w", arg, err)
	}
	field := regexp.MustCompile(`(?m)^([ -]*(?:image|value): )((?:\S+/)?` + regexp.QuoteMeta(name) + `)[:@]\S+$`)
	found := sets.New[string]()
	for _, match := range field.FindAllSubmatch(manifests, -1) {
		found.Insert(string(match[2]))
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("--set-image %q: %d images have that name: write one in full: %s",
			arg, len(found), strings.Join(sets.List(found), ", "))
	}
	return field.ReplaceAll(manifests, []byte("${1}"+ref)), nil
}
