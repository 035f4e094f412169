// Package image builds the images that OLM reads: the bundle's and the catalog's.
package image

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
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
		label, value, _ := strings.Cut(words[1], "=")
		switch words[0] {
		case "LABEL":
			labels[label] = value
		case "COPY":
			if err := readFolder(filepath.Join(dir, words[1]), strings.Trim(words[2], "/"), files); err != nil {
				return nil, err
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

func readFolder(from, to string, files map[string]string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(from, name))
		files[path.Join(to, name)] = string(content)
		return err
	})
}
