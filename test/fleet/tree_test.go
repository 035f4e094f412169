package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

// cluster is one that a Secret of Argo CD describes, with the revision of its ring.
type cluster struct {
	name, server                 string
	ring, environment, arch, way string
	revision                     string
}

func (c cluster) labels() map[string]string {
	return map[string]string{"ring": c.ring, "environment": c.environment, "arch": c.arch, "way": c.way}
}

// parameters are what the generators make of it.
func (c cluster) parameters() map[string]any {
	return map[string]any{
		"ring": c.ring, "revision": c.revision, "name": c.name, "nameNormalized": c.name, "server": c.server,
		"metadata": map[string]any{"labels": c.labels()},
	}
}

// application is what the ApplicationSet makes of the cluster. The test on real API servers compares it with what Argo
// CD makes.
func (c cluster) application(set *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, _, err := unstructured.NestedMap(set.Object, "spec", "template")
	if err != nil {
		return nil, err
	}
	filled, err := fill(text, c.parameters())
	if err != nil {
		return nil, err
	}
	application := &unstructured.Unstructured{Object: filled.(map[string]any)}
	application.SetAPIVersion("argoproj.io/v1alpha1")
	application.SetKind("Application")
	application.SetNamespace(set.GetNamespace())
	return application, nil
}

// fill executes each string as a template, with the option that the ApplicationSet sets.
func fill(value any, parameters map[string]any) (any, error) {
	var err error
	switch value := value.(type) {
	case string:
		parsed, err := template.New("").Option("missingkey=error").Parse(value)
		if err != nil {
			return nil, err
		}
		var out strings.Builder
		err = parsed.Execute(&out, parameters)
		return out.String(), err
	case []any:
		for i := range value {
			if value[i], err = fill(value[i], parameters); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range value {
			if value[key], err = fill(value[key], parameters); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// tree is a copy of what Argo CD reads.
type tree string

func newTree(t *testing.T) tree {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"gitops", "overlays", "operator/config"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(repository, part))); err != nil {
			t.Fatal(err)
		}
	}
	return tree(dir)
}

// set is the ApplicationSet, as it is applied.
func (tree tree) set(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	return tree.object(t, "ApplicationSet", "memcached-fleet")
}

func (tree tree) object(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	objects, err := kustomize.Objects(filepath.Join(string(tree), folder))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kind && o.GetName() == name
	})
	if i < 0 {
		t.Fatalf("%s has no %s %s", folder, kind, name)
	}
	return objects[i]
}

// build renders the source of an Application as Argo CD does: what spec.source.kustomize has is added to the
// kustomization, which keeps what it had.
func (tree tree) build(application *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	source, _, err := unstructured.NestedMap(application.Object, "spec", "source")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(string(tree), source["path"].(string))
	path := filepath.Join(dir, "kustomization.yaml")
	before, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.WriteFile(path, before, 0o600) }()
	var kustomization map[string]any
	if err := yaml.Unmarshal(before, &kustomization); err != nil {
		return nil, err
	}
	added, _ := source["kustomize"].(map[string]any)
	for key, value := range added {
		list, isList := value.([]any)
		if has, found := kustomization[key].([]any); found && isList {
			value = slices.Concat(has, list)
		}
		kustomization[key] = value
	}
	content, err := yaml.Marshal(kustomization)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return nil, err
	}
	return kustomize.Objects(dir)
}
