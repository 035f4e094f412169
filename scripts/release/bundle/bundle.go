// Package bundle generates the bundle for OLM from the operator's manifests: the ClusterServiceVersion, which holds the
// Deployment and its permissions, and beside it the objects that OLM applies as they are.
package bundle

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

const (
	// Package is the operator's name in a catalog.
	Package = "memcached-operator"

	// Dir is the directory of the bundle in the repository.
	Dir = "bundle"

	// Base is the part of the ClusterServiceVersion that is written by hand.
	Base = source + "/bases/" + Package + ".clusterserviceversion.yaml"

	source = "operator/config/manifests"

	// apiGroup is the group of the operator's API: its objects in the manifests are the samples.
	apiGroup = "cache.example.com"
)

// Name is the name of a version's ClusterServiceVersion.
func Name(version string) string { return Package + ".v" + version }

// Build generates the bundle of the repository at root. It writes nothing.
func Build(ctx context.Context, root string, o Options) (Files, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	built, err := kustomize.Build(filepath.Join(root, source))
	if err != nil {
		return nil, err
	}
	objects := make([]*yaml.RNode, built.Size())
	for i, resource := range built.Resources() {
		objects[i] = &resource.RNode
	}
	m, err := group(objects)
	if err != nil {
		return nil, err
	}
	images, err := m.completeDeployment(ctx, o)
	if err != nil {
		return nil, err
	}
	csv, err := m.completeCSV(root, o, images)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Base, err)
	}
	files, err := m.files(o, csv)
	if err != nil {
		return nil, err
	}
	return files, files.Check()
}

// manifests are the objects that a bundle is generated from, by their part in it.
type manifests struct {
	deployment, account, scorecard *yaml.RNode
	roles, bindings, samples       []*yaml.RNode
	applied                        []*yaml.RNode // by OLM, as they are
}

// group finds each object's part. Of a kind that has none, OLM would install nothing.
func group(objects []*yaml.RNode) (*manifests, error) {
	m := &manifests{}
	single := map[string]**yaml.RNode{
		"Deployment": &m.deployment, "ServiceAccount": &m.account, "Configuration": &m.scorecard,
	}
	lists := map[string]*[]*yaml.RNode{
		"Role": &m.roles, "ClusterRole": &m.roles, "RoleBinding": &m.bindings, "ClusterRoleBinding": &m.bindings,
		"CustomResourceDefinition": &m.applied, "Service": &m.applied,
		"ClusterServiceVersion": {}, "Namespace": {}, // The base is read from its file; users choose the namespace.
	}
	for _, object := range objects {
		kind := object.GetKind()
		if apiVersion, _, _ := strings.Cut(object.GetApiVersion(), "/"); apiVersion == apiGroup {
			m.samples = append(m.samples, object)
		} else if list, found := lists[kind]; found {
			*list = append(*list, object)
		} else if place, found := single[kind]; !found {
			return nil, fmt.Errorf("%s %s: a bundle has no place for this kind: remove it from %s, or add the kind in "+
				"scripts/release/bundle", kind, object.GetName(), source)
		} else if *place != nil {
			return nil, fmt.Errorf("%s %s: a bundle has one %s, and there is already %s",
				kind, object.GetName(), kind, (*place).GetName())
		} else {
			*place = object
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(single)) {
		if *single[kind] == nil {
			return nil, fmt.Errorf("%s renders no %s: a bundle needs one", source, kind)
		}
	}
	return m, nil
}

// files lays the bundle out.
func (m *manifests) files(o Options, csv *yaml.RNode) (Files, error) {
	files, err := metadata(o, csv)
	if err != nil {
		return nil, err
	}
	objects := map[string]*yaml.RNode{CSVFile: csv, "tests/scorecard/config.yaml": m.scorecard}
	for _, object := range m.applied {
		objects["manifests/"+fileName(object)] = object
		if err := object.SetNamespace(""); err != nil { // OLM sets it.
			return nil, err
		}
	}
	for path, object := range objects {
		text, err := object.String()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files[path] = generated + text
	}
	return files, nil
}

// fileName is the name that operator-sdk would give to the file.
func fileName(object *yaml.RNode) string {
	if object.GetKind() == "CustomResourceDefinition" {
		plural, group, _ := strings.Cut(object.GetName(), ".")
		return group + "_" + plural + ".yaml"
	}
	version := strings.ReplaceAll(object.GetApiVersion(), "/", "_")
	return fmt.Sprintf("%s_%s_%s.yaml", object.GetName(), version, strings.ToLower(object.GetKind()))
}
