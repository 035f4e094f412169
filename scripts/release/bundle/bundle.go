// Package bundle makes OLM's bundle of the operator's manifests: a ClusterServiceVersion that holds Deployment and
// permissions, and beside it what OLM takes as it is.
package bundle

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	// Package is the operator's name in a catalog.
	Package = "memcached-operator"

	// Dir is where the bundle is in the repository.
	Dir = "bundle"

	// Base is the hand-written part of the ClusterServiceVersion.
	Base = source + "/bases/" + Package + ".clusterserviceversion.yaml"

	source = "operator/config/manifests"
	icon   = source + "/icon.svg"
)

// Name is what OLM calls a version of the operator.
func Name(version string) string { return Package + ".v" + version }

// Files are a bundle's files by their paths in the folder bundle.
type Files map[string]string

// Build makes the bundle of the repository at root. It writes nothing.
func Build(ctx context.Context, root string, o Options) (Files, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	m, err := readManifests(root)
	if err != nil {
		return nil, err
	}
	if err := m.setDeployment(ctx, o); err != nil {
		return nil, err
	}
	if err := m.completeCSV(root, o); err != nil {
		return nil, err
	}
	return m.files(o)
}

// manifests are the sources of a bundle, told apart by what becomes of them.
type manifests struct {
	csv        *yaml.RNode
	deployment *yaml.RNode
	account    *yaml.RNode
	scorecard  *yaml.RNode
	roles      []*yaml.RNode // Roles and ClusterRoles
	bindings   []*yaml.RNode
	samples    []*yaml.RNode
	kept       []*yaml.RNode // what OLM takes as it is
}

func readManifests(root string) (*manifests, error) {
	dir := filepath.Join(root, source)
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("kustomize cannot build %s: %w", source, err)
	}
	m := &manifests{}
	// The base is read by itself: kustomize would drop its comments.
	if m.csv, err = yaml.ReadFile(filepath.Join(root, Base)); err != nil {
		return nil, fmt.Errorf("%s: %w", Base, err)
	}
	for _, resource := range built.Resources() {
		if err := m.add(&resource.RNode); err != nil {
			return nil, err
		}
	}
	for name, found := range map[string]*yaml.RNode{
		"Deployment": m.deployment, "ServiceAccount": m.account, "scorecard Configuration": m.scorecard,
	} {
		if found == nil {
			return nil, fmt.Errorf("%s builds to no %s: a bundle needs one", source, name)
		}
	}
	return m, nil
}

// add puts an object where it belongs. A kind that is not known here is no sample only if it is ours.
func (m *manifests) add(object *yaml.RNode) error {
	switch kind := object.GetKind(); kind {
	case "ClusterServiceVersion", "Namespace": // The base is read already; OLM is told the namespace.
	case "Deployment":
		return only(&m.deployment, object)
	case "ServiceAccount":
		return only(&m.account, object)
	case "Configuration":
		return only(&m.scorecard, object)
	case "Role", "ClusterRole":
		m.roles = append(m.roles, object)
	case "RoleBinding", "ClusterRoleBinding":
		m.bindings = append(m.bindings, object)
	case "CustomResourceDefinition", "Service":
		m.kept = append(m.kept, object)
	default:
		if group, _, _ := strings.Cut(object.GetApiVersion(), "/"); group != apiGroup {
			return fmt.Errorf("%s %s: what becomes of a %s in a bundle is not known: add it to scripts/release/bundle",
				kind, object.GetName(), kind)
		}
		m.samples = append(m.samples, object)
	}
	return nil
}

// only keeps an object of which a bundle has one.
func only(place **yaml.RNode, object *yaml.RNode) error {
	if *place != nil {
		return fmt.Errorf("%s %s: there is one already, %s: a bundle of several operators is not provided for",
			object.GetKind(), object.GetName(), (*place).GetName())
	}
	*place = object
	return nil
}

// files lays the bundle out.
func (m *manifests) files(o Options) (Files, error) {
	oldest, err := m.csv.GetString("spec.minKubeVersion")
	if err != nil {
		return nil, fmt.Errorf("%s: spec.minKubeVersion: %w", Base, err)
	}
	openShift, err := openShiftFrom(oldest)
	if err != nil {
		return nil, err
	}
	files := Files{
		"bundle.Dockerfile":         dockerfile(o, openShift),
		"catalog.Dockerfile":        catalogDockerfile,
		"metadata/annotations.yaml": annotationsFile(o, openShift),
	}
	objects := map[string]*yaml.RNode{
		"manifests/" + Package + ".clusterserviceversion.yaml": m.csv,
		"tests/scorecard/config.yaml":                          m.scorecard,
	}
	for _, object := range m.kept {
		name, err := fileName(object)
		if err != nil {
			return nil, err
		}
		objects["manifests/"+name] = object
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

// fileName is what operator-sdk would call the file.
func fileName(object *yaml.RNode) (string, error) {
	if object.GetKind() == "CustomResourceDefinition" {
		group, plural, err := crdNames(object)
		return fmt.Sprintf("%s_%s.yaml", group, plural), err
	}
	version := strings.ReplaceAll(object.GetApiVersion(), "/", "_")
	return fmt.Sprintf("%s_%s_%s.yaml", object.GetName(), version, lower(object.GetKind())), nil
}
