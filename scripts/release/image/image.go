// Package image builds the images that OLM reads: the bundle's and the catalog's.
package image

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// Kind is an image without programs. Its value is the Dockerfile that lists the files.
type Kind string

// The images that OLM reads.
const (
	Bundle  Kind = "bundle.Dockerfile"
	Catalog Kind = "catalog.Dockerfile"
)

// Build builds the image of the files in dir, for all platforms, without a container tool.
func (k Kind) Build(dir string) (v1.ImageIndex, error) {
	recipe, err := os.ReadFile(filepath.Join(dir, string(k)))
	if err != nil {
		return nil, fmt.Errorf("%w: write it by make bundle", err)
	}
	labels, files := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(recipe)) {
		words := append(strings.Fields(line), "", "", "")
		switch words[0] {
		case "LABEL":
			label, value, _ := strings.Cut(words[1], "=")
			labels[label] = value
		case "COPY":
			copied, err := bundle.Read(filepath.Join(dir, words[1]))
			if err != nil {
				return nil, err
			}
			for name, content := range copied {
				files[path.Join(strings.Trim(words[2], "/"), name)] = content
			}
		}
	}
	return oci.Files(labels, files)
}

// Digest is the digest that the image of the files in dir gets in a registry.
func (k Kind) Digest(dir string) (string, error) {
	index, err := k.Build(dir)
	if err != nil {
		return "", err
	}
	digest, err := index.Digest()
	return digest.String(), err
}
