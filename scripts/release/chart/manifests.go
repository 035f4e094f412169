package chart

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	overlay    = "overlays/multiarch"
	components = "overlays/components"

	// The objects that values reach into, as the overlays name them.
	manager        = Name + "-controller-manager"
	managerBinding = Name + "-manager-rolebinding"
	metricsService = manager + "-metrics-service"
	scraper        = Name + "-scraper"
)

// option is a component of the overlays that a value of the chart turns on.
type option struct{ component, condition string }

var options = []option{
	{"two-replicas", "gt (int .Values.replicas) 1"},
	{"namespaced", ".Values.watchNamespaces"},
	{"monitoring", ".Values.monitoring.enabled"},
}

// manifests are what the overlay builds with all its options.
type manifests struct {
	objects []*object
	plain   *yaml.RNode      // the Deployment without any option: the defaults are its values
	images  map[string]image // by what runs from it: operator, agent, memcached
}

// object is one of them, and the condition under which the chart has it; empty: always.
type object struct {
	*yaml.RNode
	condition string
}

func idOf(node *yaml.RNode) string { return node.GetKind() + "/" + node.GetName() }

// readManifests builds the overlay without its options and with each of them. An object that is only in one of the
// results belongs to that option. The Deployment is the one with all of them.
func readManifests(root string) (*manifests, error) {
	disk, err := loadSources(root)
	if err != nil {
		return nil, err
	}
	base, err := build(disk)
	if err != nil {
		return nil, err
	}
	m := &manifests{images: map[string]image{}}
	for _, node := range base {
		m.objects = append(m.objects, &object{RNode: node})
	}
	var all []string
	for _, o := range options {
		if err := m.addOption(disk, o); err != nil {
			return nil, err
		}
		all = append(all, o.component)
	}
	full, err := build(disk, all...)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(full, func(node *yaml.RNode) bool { return node.GetKind() == "Deployment" })
	deployment := m.find("Deployment/" + manager)
	if i < 0 || deployment == nil {
		return nil, fmt.Errorf("%s builds to no Deployment %s", overlay, manager)
	}
	m.plain, deployment.RNode = deployment.RNode, full[i]
	return m, nil
}

func (m *manifests) find(id string) *object {
	i := slices.IndexFunc(m.objects, func(o *object) bool { return idOf(o.RNode) == id })
	if i < 0 {
		return nil
	}
	return m.objects[i]
}

// addOption adds what an option brings, and makes what it removes depend on its absence.
func (m *manifests) addOption(disk filesys.FileSystem, o option) error {
	built, err := build(disk, o.component)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	var added []*object
	for _, node := range built {
		kept[idOf(node)] = true
		if m.find(idOf(node)) == nil {
			added = append(added, &object{RNode: node, condition: o.condition})
		}
	}
	for _, known := range m.objects {
		if !kept[idOf(known.RNode)] && known.condition == "" {
			known.condition = "not " + o.condition
		}
	}
	m.objects = append(m.objects, added...)
	return nil
}

// loadSources copies the manifests into memory, where an overlay can be put beside them.
func loadSources(root string) (filesys.FileSystem, error) {
	memory := filesys.MakeFsInMemory()
	for _, folder := range []string{"operator/config", "overlays"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(name) != ".yaml" {
				return err
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			return memory.WriteFile("/"+filepath.ToSlash(relative), content)
		})
		if err != nil {
			return nil, err
		}
	}
	return memory, nil
}

// build builds the overlay with some components.
func build(memory filesys.FileSystem, names ...string) ([]*yaml.RNode, error) {
	var paths []string
	for _, name := range names {
		paths = append(paths, "../"+path.Join(components, name))
	}
	text := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
		"resources: [../%s]\ncomponents: [%s]\n",
		overlay, strings.Join(paths, ", "))
	if err := memory.WriteFile("/chart/kustomization.yaml", []byte(text)); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/chart")
	if err != nil {
		return nil, fmt.Errorf("kustomize cannot build %s with %v: %w", overlay, names, err)
	}
	var nodes []*yaml.RNode
	for _, resource := range built.Resources() {
		if resource.GetKind() != "Namespace" { // Helm makes it, or the user.
			nodes = append(nodes, &resource.RNode)
		}
	}
	return nodes, nil
}
