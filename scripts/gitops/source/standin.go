package source

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Images are those that the list knows of an object of a source.
func (c Catalog) Images(address string, u *unstructured.Unstructured) []string {
	for _, o := range c.Releases[address] {
		same := u.GroupVersionKind().Group == o.Group && u.GetKind() == o.Kind && u.GetName() == o.Name
		if same && u.GetNamespace() == o.Namespace {
			return o.Images
		}
	}
	return nil
}

// StandIns makes of each listed source objects with the right names and nothing in them, so that kustomize can do to
// them what it would do to the real ones: patch, remove, rename.
func (c Catalog) StandIns(address string) ([]byte, error) {
	listed, found := c.Releases[address]
	if !found {
		return nil, fmt.Errorf("%s does not list it: run: sources --write --sources fetch", File)
	}
	var out bytes.Buffer
	for _, object := range listed {
		text, err := yaml.Marshal(object.standIn())
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

func (o Object) standIn() map[string]any {
	metadata := map[string]any{"name": o.Name}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	fields := map[string]any{"apiVersion": o.apiVersion(), "kind": o.Kind, "metadata": metadata}
	if o.Defines != nil {
		fields["spec"] = o.Defines.definition()
	}
	return fields
}

func (o Object) apiVersion() string {
	return strings.TrimPrefix(o.Group+"/"+o.Version, "/")
}

// definition is the part of a CustomResourceDefinition that says which kind it brings.
func (k Kind) definition() map[string]any {
	scope := "Cluster"
	if k.Namespaced {
		scope = "Namespaced"
	}
	versions := make([]any, 0, len(k.Versions))
	for _, name := range k.Versions {
		versions = append(versions, map[string]any{"name": name, "served": true})
	}
	return map[string]any{
		"group":    k.Group,
		"scope":    scope,
		"names":    map[string]any{"kind": k.Kind, "plural": k.Plural},
		"versions": versions,
	}
}
