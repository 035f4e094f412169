package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// overrides are changes made to a build after kustomize is done, so that a
// development image can be deployed without editing a file under version control.
type overrides struct {
	images []string // NAME=REF
	env    []string // CONTAINER/VARIABLE=VALUE
}

// build turns a kustomize directory into the objects to deploy.
func build(dir string, o overrides) ([]*unstructured.Unstructured, error) {
	objects, err := runKustomize(dir)
	if err != nil {
		return nil, err
	}
	if len(o.images) > 0 {
		if objects, err = withImages(dir, objects, o.images); err != nil {
			return nil, err
		}
	}
	for _, arg := range o.env {
		if err := setEnv(objects, arg); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// runKustomize builds dir as `kustomize build dir` would, file access outside of it included: refused.
func runKustomize(dir string) ([]*unstructured.Unstructured, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist: name a directory with a kustomization.yaml, "+
			"such as overlays/amd64", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file: name the directory it is in", dir)
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("kustomize cannot build %s: %w", dir, err)
	}
	if built.Size() == 0 {
		return nil, fmt.Errorf("%s builds to no object at all: list some under resources: in its kustomization", dir)
	}
	return toObjects(built)
}

// toObjects hands the build over to the Kubernetes libraries.
func toObjects(built resmap.ResMap) ([]*unstructured.Unstructured, error) {
	objects := make([]*unstructured.Unstructured, 0, built.Size())
	for _, resource := range built.Resources() {
		// By way of JSON, because kyaml's integers are not of the type that Kubernetes deals in.
		raw, err := resource.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// setEnv sets one environment variable of every container of that name.
func setEnv(objects []*unstructured.Unstructured, arg string) error {
	target, value, found := strings.Cut(arg, "=")
	container, variable, ok := strings.Cut(target, "/")
	if !found || !ok || container == "" || variable == "" {
		return fmt.Errorf("--set-env %q: write CONTAINER/VARIABLE=VALUE, such as "+
			"manager/RELATED_IMAGE_MEMCACHED=localhost:5001/memcached:dev", arg)
	}
	hits := 0
	for _, object := range objects {
		for _, c := range containersOf(object) {
			if c["name"] == container {
				c["env"] = withVariable(c["env"], variable, value)
				hits++
			}
		}
	}
	if hits == 0 {
		return fmt.Errorf("--set-env %s: no container is named %s", arg, container)
	}
	return nil
}

// containersOf returns the containers of a workload's Pod template, init containers
// first, to be read or changed in place.
func containersOf(object *unstructured.Unstructured) []map[string]any {
	var containers []map[string]any
	for _, field := range []string{"initContainers", "containers"} {
		list, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec", field)
		items, _ := list.([]any)
		for _, item := range items {
			if c, ok := item.(map[string]any); ok {
				containers = append(containers, c)
			}
		}
	}
	return containers
}

// withVariable replaces the variable where it stands, valueFrom and all, or appends it.
func withVariable(env any, name, value string) []any {
	list, _ := env.([]any)
	entry := map[string]any{"name": name, "value": value}
	i := slices.IndexFunc(list, func(e any) bool {
		m, ok := e.(map[string]any)
		return ok && m["name"] == name
	})
	if i < 0 {
		return append(list, entry)
	}
	list[i] = entry
	return list
}
