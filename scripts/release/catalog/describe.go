package catalog

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// describe writes the documents of the package and of a version.
func (c *Catalog) describe(v *bundle.Version, files bundle.Files, image string) error {
	csv, err := yaml.Parse(files[bundle.CSVFile])
	if err != nil {
		return fmt.Errorf("%s: %w", bundle.CSVFile, err)
	}
	field := func(path ...string) *yaml.Node {
		found, err := csv.Pipe(yaml.Lookup(path...))
		if err != nil || found == nil {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagNull}
		}
		return found.YNode()
	}
	c.Package = Package{
		Schema: "olm.package", Name: bundle.Package, DefaultChannel: v.DefaultChannel,
		Description: field("spec", "description").Value,
	}
	if err := field("spec", "icon", "0").Decode(&c.Package.Icon); err != nil {
		return fmt.Errorf("%s: spec.icon: %w", bundle.CSVFile, err)
	}
	b := c.Bundle(v.Metadata.Name)
	if b == nil {
		b = &Bundle{}
		c.Bundles = append(c.Bundles, b)
	}
	*b = Bundle{
		Schema: "olm.bundle", Name: v.Metadata.Name, Package: bundle.Package, Image: image,
		RelatedImages: append([]bundle.RelatedImage{{Image: image}}, v.Spec.RelatedImages...),
	}
	b.add("olm.package", map[string]string{"packageName": bundle.Package, "version": v.Version})
	for _, api := range v.Spec.CustomResourceDefinitions.Owned {
		_, group, _ := strings.Cut(api.Name, ".")
		b.add("olm.gvk", map[string]string{"group": group, "kind": api.Kind, "version": api.Version})
	}
	// This spares OLM a look into the bundle.
	metadata := map[string]any{
		"annotations": field("metadata", "annotations"), "labels": field("metadata", "labels"),
		"apiServiceDefinitions": struct{}{}, "crdDescriptions": field("spec", "customresourcedefinitions"),
	}
	for _, name := range []string{
		"description", "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion",
		"provider",
	} {
		metadata[name] = field("spec", name)
	}
	b.add("olm.csv.metadata", metadata)
	return nil
}

// add panics on a value that is not data, which would be a mistake in this file.
func (b *Bundle) add(kind string, value any) {
	var property yaml.Node
	if err := property.Encode(struct {
		Type  string `yaml:"type"`
		Value any    `yaml:"value"`
	}{kind, value}); err != nil {
		panic(err)
	}
	b.Properties = append(b.Properties, property)
}
