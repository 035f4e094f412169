package chart

import (
	"encoding/json"

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

// artifact is a package as registries keep it, and as helm pull gets it: Chart.yaml as its config, and one layer.
type artifact struct {
	config, manifest []byte
	content          v1.Layer
}

func newArtifact(files Files, packed []byte) (v1.Image, error) {
	config, err := yaml.YAMLToJSON([]byte(files["Chart.yaml"]))
	if err != nil {
		return nil, err
	}
	a := &artifact{config: config, content: static.NewLayer(packed, contentType)}
	configured, err := partial.Descriptor(static.NewLayer(config, configType))
	if err != nil {
		return nil, err
	}
	content, err := partial.Descriptor(a.content)
	if err != nil {
		return nil, err
	}
	a.manifest, err = json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: *configured, Layers: []v1.Descriptor{*content},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(a)
}

func (a *artifact) RawConfigFile() ([]byte, error)      { return a.config, nil }
func (a *artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

func (a *artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.content, nil }
