package tree

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/gitops/render"
	"github.com/example-inc/memcached-operator/scripts/gitops/repo"
	"github.com/example-inc/memcached-operator/scripts/gitops/source"
)

// Builder builds trees of a variant of the files.
type Builder struct {
	source.Localised
	// Remotes are the places of the sources, and Catalog lists what is in them.
	Remotes []source.Remote
	Catalog source.Catalog
	// Listed: instead of the sources there are stand-ins by that list.
	Listed bool
	// Package is the operator's name in catalogs, and Operator the kinds that OLM brings with it.
	Package  string
	Operator []source.Kind
	// Definitions are the CustomResourceDefinitions of the bundle and of the sources.
	Definitions []*unstructured.Unstructured
	// Cache keeps what is rendered for other variants.
	Cache *render.Cache
}

// newBuilder reads what trees are built from.
func newBuilder(local source.Localised, catalog source.Catalog) (*Builder, error) {
	b := &Builder{Localised: local, Catalog: catalog, Cache: render.NewCache()}
	return b, errors.Join(b.readBundle(), b.readSources())
}

const bundle, annotationsFile = "bundle/manifests", "bundle/metadata/annotations.yaml"

// readBundle learns what OLM installs from a bundle of the operator.
func (b *Builder) readBundle() error {
	var metadata struct{ Annotations map[string]string }
	if err := kubeyaml.Unmarshal(b.Files[annotationsFile], &metadata); err != nil {
		return fmt.Errorf("%s: %w", annotationsFile, err)
	}
	b.Package = metadata.Annotations["operators.operatorframework.io.bundle.package.v1"]
	for name, content := range b.Files {
		if path.Dir(name) != bundle || path.Ext(name) != ".yaml" {
			continue
		}
		definitions, err := source.Definitions(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, definition := range definitions {
			kind, err := source.Defined(*definition)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			b.Operator = append(b.Operator, *kind)
			b.Definitions = append(b.Definitions, definition)
		}
	}
	if b.Package == "" || len(b.Operator) == 0 {
		return fmt.Errorf("bundle/ names no package, or holds no CustomResourceDefinition: run make bundle")
	}
	return nil
}

// readSources finds the CustomResourceDefinitions of the sources.
func (b *Builder) readSources() error {
	for address, content := range b.Contents {
		definitions, err := source.Definitions(content)
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		b.Definitions = append(b.Definitions, definitions...)
	}
	return nil
}

// Render builds a folder.
func (b *Builder) Render(dir string) ([]render.Object, error) { return b.Cache.Build(b.Files, dir) }

// With is a builder for other files, which differ in nothing but what is below gitops/.
func (b *Builder) With(files repo.Files) *Builder {
	changed := *b
	changed.Files = files
	return &changed
}

// Scopes tell which kinds are in namespaces. Kinds of Kubernetes need not be in it.
type Scopes map[schema.GroupKind]bool

// Namespaced tells whether objects of the kind are in namespaces, if that is known.
func (s Scopes) Namespaced(kind schema.GroupVersionKind) (namespaced, known bool) {
	if namespaced, known = s[kind.GroupKind()]; known {
		return namespaced, true
	}
	// What kustomize knows of Kubernetes is older than some versions of a kind, but a new version changes no scope.
	for _, version := range []string{kind.Version, "v1", "v2", "v1beta1"} {
		apiVersion := strings.TrimPrefix(kind.Group+"/"+version, "/")
		if namespaced, known = openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: apiVersion, Kind: kind.Kind}); known {
			return namespaced, true
		}
	}
	return false, false
}

// scopes of the kinds that the tree, a source or the bundle defines, or that the cluster has.
func (b *Builder) scopes(t *Tree) Scopes {
	scopes := Scopes{}
	add := func(kinds ...source.Kind) {
		for _, kind := range kinds {
			scopes[schema.GroupKind{Group: kind.Group, Kind: kind.Kind}] = kind.Namespaced
		}
	}
	for _, given := range b.Catalog.Given {
		if given.In(t.Way) {
			add(given.Kinds...)
		}
	}
	add(b.Operator...)
	for _, app := range t.All() {
		for _, object := range app.rendered {
			if kind, err := source.Defined(*object.Unstructured); err == nil && kind != nil {
				add(*kind)
			}
		}
	}
	return scopes
}
