package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// overrides are changes made to a build after kustomize is done, so that a
// development image can be deployed without editing a file under version control.
type overrides struct {
	images []string // NAME=REF
	env    []string // CONTAINER/VARIABLE=VALUE
}

// build turns a kustomize directory into the objects to deploy.
func build(dir string, o overrides) ([]*unstructured.Unstructured, error) {
	objects, err := kustomize.Objects(dir)
	if err != nil {
		return nil, err
	}
	if len(o.images) > 0 {
		images, err := replacements(objects, o.images)
		if err != nil {
			return nil, err
		}
		if objects, err = kustomize.Objects(dir, images...); err != nil {
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
