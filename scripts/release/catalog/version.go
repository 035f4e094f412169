package catalog

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// version is what a catalog needs to know of a bundle.
type version struct {
	name           string
	version        semver.Version
	channels       []string
	defaultChannel string
	skipRange      string
	csv            csv
}

// csv is the part of a ClusterServiceVersion that goes into a catalog.
type csv struct {
	Metadata struct {
		Name        string
		Annotations yaml.Node
		Labels      yaml.Node
	}
	Spec struct {
		Version       string
		DisplayName   string `yaml:"displayName"`
		Description   string
		Icon          []Icon
		InstallModes  yaml.Node `yaml:"installModes"`
		Keywords      yaml.Node
		Links         yaml.Node
		Maintainers   yaml.Node
		Maturity      string
		MinKubernetes string `yaml:"minKubeVersion"`
		Provider      yaml.Node
		APIs          yaml.Node      `yaml:"customresourcedefinitions"`
		RelatedImages []RelatedImage `yaml:"relatedImages"`
	}
}

// csvMetadata is the property that spares OLM a look into the bundle.
type csvMetadata struct {
	Annotations     *yaml.Node `yaml:"annotations"`
	APIServices     struct{}   `yaml:"apiServiceDefinitions"`
	CRDDescriptions *yaml.Node `yaml:"crdDescriptions"`
	Description     string     `yaml:"description"`
	DisplayName     string     `yaml:"displayName"`
	InstallModes    *yaml.Node `yaml:"installModes"`
	Keywords        *yaml.Node `yaml:"keywords"`
	Labels          *yaml.Node `yaml:"labels"`
	Links           *yaml.Node `yaml:"links"`
	Maintainers     *yaml.Node `yaml:"maintainers"`
	Maturity        string     `yaml:"maturity"`
	MinKubernetes   string     `yaml:"minKubeVersion"`
	Provider        *yaml.Node `yaml:"provider"`
}

func readVersion(files bundle.Files) (*version, error) {
	const path = "manifests/" + bundle.Package + ".clusterserviceversion.yaml"
	v := &version{}
	if err := yaml.Unmarshal([]byte(files[path]), &v.csv); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v.name = v.csv.Metadata.Name
	var err error
	if v.version, err = semver.Parse(v.csv.Spec.Version); err != nil {
		return nil, fmt.Errorf("%s: spec.version %q: %w: write the bundle by make bundle", path, v.csv.Spec.Version, err)
	}
	var ofCSV map[string]string
	if err := v.csv.Metadata.Annotations.Decode(&ofCSV); err != nil {
		return nil, fmt.Errorf("%s: metadata.annotations: %w", path, err)
	}
	v.skipRange = ofCSV["olm.skipRange"]
	var metadata struct{ Annotations map[string]string }
	if err := yaml.Unmarshal([]byte(files["metadata/annotations.yaml"]), &metadata); err != nil {
		return nil, fmt.Errorf("metadata/annotations.yaml: %w", err)
	}
	v.channels = strings.Split(metadata.Annotations["operators.operatorframework.io.bundle.channels.v1"], ",")
	v.defaultChannel = metadata.Annotations["operators.operatorframework.io.bundle.channel.default.v1"]
	return v, nil
}

func (v *version) packageDocument() Package {
	p := Package{
		Schema: SchemaPackage, Name: bundle.Package, DefaultChannel: v.defaultChannel, Description: v.csv.Spec.Description,
	}
	if len(v.csv.Spec.Icon) > 0 {
		p.Icon = v.csv.Spec.Icon[0]
	}
	return p
}

func (v *version) bundleDocument(image string) *Bundle {
	return &Bundle{
		Schema: SchemaBundle, Name: v.name, Package: bundle.Package, Image: image,
		Properties:    v.properties(),
		RelatedImages: append([]RelatedImage{{Name: "", Image: image}}, v.csv.Spec.RelatedImages...),
	}
}

func (v *version) properties() []Property {
	properties := []Property{property("olm.package", map[string]string{
		"packageName": bundle.Package, "version": v.csv.Spec.Version,
	})}
	for _, api := range v.ownedAPIs() {
		properties = append(properties, property("olm.gvk", api))
	}
	s := &v.csv.Spec
	return append(properties, property("olm.csv.metadata", csvMetadata{
		Annotations: &v.csv.Metadata.Annotations, Labels: &v.csv.Metadata.Labels,
		CRDDescriptions: &s.APIs, Description: s.Description, DisplayName: s.DisplayName,
		InstallModes: &s.InstallModes, Keywords: &s.Keywords, Links: &s.Links, Maintainers: &s.Maintainers,
		Maturity: s.Maturity, MinKubernetes: s.MinKubernetes, Provider: &s.Provider,
	}))
}

func (v *version) ownedAPIs() (apis []map[string]string) {
	var definitions struct {
		Owned []struct{ Name, Kind, Version string }
	}
	_ = v.csv.Spec.APIs.Decode(&definitions) // The validator tells of what can't be read.
	for _, owned := range definitions.Owned {
		_, group, _ := strings.Cut(owned.Name, ".")
		apis = append(apis, map[string]string{"group": group, "kind": owned.Kind, "version": owned.Version})
	}
	return apis
}

// property panics on a value that is not data, which would be a mistake in this file.
func property(kind string, value any) Property {
	p := Property{Type: kind}
	if err := p.Value.Encode(value); err != nil {
		panic(err)
	}
	return p
}
