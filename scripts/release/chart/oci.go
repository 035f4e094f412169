package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

// Media types of charts in registries, as Helm defines them.
const (
	configType  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	contentType types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// Image is a package in the form in which registries keep it, and in which helm pull gets it. Its repository must end
// in Name, and its tag is the version.
func Image(packed []byte) (v1.Image, error) {
	config, err := configOf(packed)
	if err != nil {
		return nil, err
	}
	content := static.NewLayer(packed, contentType)
	described := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1}
	for _, part := range []struct {
		layer v1.Layer
		into  func(v1.Descriptor)
	}{
		{static.NewLayer(config, configType), func(d v1.Descriptor) { described.Config = d }},
		{content, func(d v1.Descriptor) { described.Layers = []v1.Descriptor{d} }},
	} {
		descriptor, err := partial.Descriptor(part.layer)
		if err != nil {
			return nil, err
		}
		part.into(*descriptor)
	}
	manifest, err := json.Marshal(described)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&artifact{config: config, manifest: manifest, content: content})
}

// configOf is Chart.yaml as JSON. It comes first in a package.
func configOf(packed []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("the package is no chart: %w", err)
	}
	archive := tar.NewReader(unzipped)
	header, err := archive.Next()
	if err != nil || header.Name != Name+"/Chart.yaml" {
		return nil, fmt.Errorf("the package does not begin with Chart.yaml: make it by make chart: %w", err)
	}
	content, err := io.ReadAll(archive)
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(content)
}

// artifact is what a registry keeps of a chart: a manifest, and the two things that it names.
type artifact struct {
	config, manifest []byte
	content          v1.Layer
}

func (a *artifact) RawConfigFile() ([]byte, error)      { return a.config, nil }
func (a *artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (a *artifact) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if digest, err := a.content.Digest(); err != nil || digest != h {
		return nil, fmt.Errorf("the chart has no part %s: %w", h, err)
	}
	return a.content, nil
}
