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

// manifests are the objects that a bundle is generated from, by kind. All of the operator's own API are samples.
type manifests map[string][]*yaml.RNode

const sample = "sample"

// counts has the kinds that have a place in a bundle, and how many objects of them there must be; 0 is any number.
var counts = map[string]int{
	"CustomResourceDefinition": 1, "Deployment": 1, "ServiceAccount": 1, "Configuration": 1,
	"Role": 0, "ClusterRole": 0, "RoleBinding": 0, "ClusterRoleBinding": 0, "Service": 0, sample: 0,
	"ClusterServiceVersion": 0, "Namespace": 0, // The base is read from its file; users choose the namespace.
}

func group(objects []*yaml.RNode) (manifests, error) {
	m := manifests{}
	for _, object := range objects {
		kind := object.GetKind()
		if group, _, _ := strings.Cut(object.GetApiVersion(), "/"); group == apiGroup {
			kind = sample
		}
		if _, known := counts[kind]; !known {
			return nil, fmt.Errorf("%s %s: a bundle has no place for this kind: remove it from %s, or add the kind in "+
				"scripts/release/bundle", kind, object.GetName(), source)
		}
		m[kind] = append(m[kind], object)
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		if want := counts[kind]; want > 0 && len(m[kind]) != want {
			return nil, fmt.Errorf("%s renders %d objects of kind %s, want %d", source, len(m[kind]), kind, want)
		}
	}
	return m, nil
}

// one is the only object of a kind.
func (m manifests) one(kind string) *yaml.RNode { return m[kind][0] }

// files lays the bundle out.
func (m manifests) files(o Options, csv *yaml.RNode) (Files, error) {
	files, err := metadata(o, csv)
	if err != nil {
		return nil, err
	}
	objects := map[string]*yaml.RNode{CSVFile: csv, "tests/scorecard/config.yaml": m.one("Configuration")}
	for _, object := range slices.Concat(m["CustomResourceDefinition"], m["ClusterRole"], m["Service"]) {
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
