package catalog

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// fromCSV are the fields of a ClusterServiceVersion that a catalog repeats: they spare OLM a look into the bundle.
var fromCSV = []string{
	"description", "displayName", "installModes", "keywords", "links", "maintainers", "maturity", "minKubeVersion",
	"provider",
}

type packageDocument struct {
	Schema, Name   string
	DefaultChannel string `yaml:"defaultChannel"`
	Icon           map[string]string
	Description    *yaml.Node
}

type channelDocument struct {
	Schema, Package, Name string
	Entries               []Entry
}

type bundleDocument struct {
	Schema, Name, Package, Image string
	Properties                   []property
	RelatedImages                []bundle.RelatedImage `yaml:"relatedImages"`
}

type property struct {
	Type  string
	Value any
}

// describe writes the documents of the package and of a version.
func (c *Catalog) describe(v *bundle.Version, csv, image string) error {
	object, err := yaml.Parse(csv)
	if err != nil {
		return fmt.Errorf("%s: %w", bundle.CSVFile, err)
	}
	field := func(path ...string) *yaml.Node {
		found, err := object.Pipe(yaml.Lookup(path...))
		if err != nil || found == nil {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: yaml.NodeTagNull}
		}
		return found.YNode()
	}
	var icon map[string]string
	if err := field("spec", "icon", "0").Decode(&icon); err != nil {
		return fmt.Errorf("%s: spec.icon: %w", bundle.CSVFile, err)
	}
	metadata := map[string]any{
		"annotations": field("metadata", "annotations"), "labels": field("metadata", "labels"),
		"apiServiceDefinitions": struct{}{}, "crdDescriptions": field("spec", "customresourcedefinitions"),
	}
	for _, name := range fromCSV {
		metadata[name] = field("spec", name)
	}
	version := bundleDocument{
		Schema: bundleSchema, Name: v.Metadata.Name, Package: bundle.Package, Image: image,
		RelatedImages: append([]bundle.RelatedImage{{Image: image}}, v.Spec.RelatedImages...),
	}
	add := func(kind string, value any) { version.Properties = append(version.Properties, property{kind, value}) }
	add(packageSchema, map[string]string{"packageName": bundle.Package, "version": v.Version})
	for _, api := range v.Spec.CustomResourceDefinitions.Owned {
		_, group, _ := strings.Cut(api.Name, ".")
		add("olm.gvk", map[string]string{"group": group, "kind": api.Kind, "version": api.Version})
	}
	add("olm.csv.metadata", metadata)
	if err := c.put(version); err != nil {
		return err
	}
	return c.put(packageDocument{packageSchema, bundle.Package, v.DefaultChannel, icon, field("spec", "description")})
}
