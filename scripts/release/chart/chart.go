// Package chart makes a Helm chart of the manifests that the overlays build. The folder files has the files that are
// the same in each chart. edits.yaml has the edits that make templates of the manifests.
package chart

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/archive"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// Name is the chart's name, and the name of the Helm release in all examples.
const Name = bundle.Package

// Options describe the release that a chart installs.
type Options struct {
	bundle.Images
	Version string // of the chart and of the operator, such as 0.2.0
}

// Write makes the chart of the repository at root and writes its package into a folder. It returns the path of the
// package, and the package as an artifact for a registry. In the registry, the repository of the package must end in
// Name, and its tag must be the version.
func Write(root, dir string, o Options) (path string, artifact v1.Image, err error) {
	s, err := readSource(root, o)
	if err := errors.Join(bundle.ValidateVersion("version", o.Version), err); err != nil {
		return "", nil, err
	}
	files, err := s.files()
	if err != nil {
		return "", nil, err
	}
	packed, err := pack(files, s.csv.GetAnnotations()["createdAt"])
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, Name+"-"+o.Version+".tgz")
	if err := worktree.WriteFile(path, packed, 0o644); err != nil {
		return "", nil, err
	}
	artifact, err = newArtifact(files, packed)
	return path, artifact, err
}

func (s *source) files() (bundle.Files, error) {
	files, err := s.templates()
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(data, "files", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[strings.TrimPrefix(path, "files/")], err = s.fill(path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	files["values.schema.json"], err = s.schema()
	return files, err
}

// pack makes the package as helm package does, but always makes the same bytes from the same files and time.
func pack(files bundle.Files, created string) ([]byte, error) {
	var packed []archive.File
	for _, path := range slices.Sorted(maps.Keys(files)) { // Chart.yaml comes first, as Helm expects.
		packed = append(packed, archive.File{Name: Name + "/" + path, Mode: 0o644, Content: []byte(files[path])})
	}
	return archive.Pack(created, gzip.BestCompression, packed...)
}

// These are the media types that Helm defines for charts in registries.
const (
	configType  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	contentType types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// artifact is a package in the form in which a registry stores it and helm pull gets it: its config is Chart.yaml, and
// its only layer is the package.
type artifact struct {
	config, manifest []byte
	content          v1.Layer
}

func newArtifact(files bundle.Files, packed []byte) (v1.Image, error) {
	config, err := yaml.YAMLToJSON([]byte(files["Chart.yaml"]))
	if err != nil {
		return nil, err
	}
	a := &artifact{config: config, content: static.NewLayer(packed, contentType)}
	configured, configErr := partial.Descriptor(static.NewLayer(config, configType))
	content, err := partial.Descriptor(a.content)
	if err := errors.Join(configErr, err); err != nil {
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

func (a *artifact) RawConfigFile() ([]byte, error)                         { return a.config, nil }
func (a *artifact) RawManifest() ([]byte, error)                           { return a.manifest, nil }
func (a *artifact) MediaType() (types.MediaType, error)                    { return types.OCIManifestSchema1, nil }
func (a *artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.content, nil }
