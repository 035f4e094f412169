package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/render"
)

// Describe lists the objects of a source, as gitops/sources.json does.
func Describe(manifests []byte) ([]Object, error) {
	all, err := decode(manifests)
	if err != nil {
		return nil, err
	}
	objects := make([]Object, 0, len(all))
	for _, u := range all {
		object, err := describe(*u)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	slices.SortFunc(objects, compare)
	return objects, nil
}

// Definitions are the CustomResourceDefinitions among manifests.
func Definitions(manifests []byte) ([]*unstructured.Unstructured, error) {
	all, err := decode(manifests)
	return slices.DeleteFunc(all, func(u *unstructured.Unstructured) bool { return u.GetKind() != definitionKind }), err
}

const definitionKind = "CustomResourceDefinition"

func decode(manifests []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), len(manifests)+1)
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(u.Object) > 0 {
			objects = append(objects, u)
		}
	}
}

func describe(u unstructured.Unstructured) (Object, error) {
	gvk := u.GroupVersionKind()
	if gvk.Kind == "" || u.GetName() == "" {
		return Object{}, fmt.Errorf("a document is no Kubernetes object: it lacks kind or name")
	}
	object := Object{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName(),
	}
	for _, image := range render.Images(u.Object) {
		object.Images = append(object.Images, withoutDigest(image))
	}
	defined, err := Defined(u)
	object.Defines = defined
	return object, err
}

// withoutDigest: the release pins the image, and some projects write the digest only as they release.
func withoutDigest(image string) string {
	name, _, _ := strings.Cut(image, "@")
	return name
}

// Defined is the kind that the object brings, if it is a CustomResourceDefinition.
func Defined(u unstructured.Unstructured) (*Kind, error) {
	if u.GetKind() != definitionKind {
		return nil, nil
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &crd); err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", u.GetName(), err)
	}
	kind := &Kind{
		Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind, Plural: crd.Spec.Names.Plural,
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	for _, version := range crd.Spec.Versions {
		if version.Served {
			kind.Versions = append(kind.Versions, version.Name)
		}
	}
	return kind, nil
}

func compare(a, b Object) int {
	return cmp.Or(
		cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
	)
}
