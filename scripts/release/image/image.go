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

// Kind is an image of files of which the Dockerfile says which they are.
type Kind struct{ dockerfile string }

// The images that OLM reads.
var (
	Bundle  = Kind{"bundle.Dockerfile"}
	Catalog = Kind{"catalog.Dockerfile"}
)

// Build makes the image of what is in dir, without any tool, from the LABEL and COPY lines of the Dockerfile.
func (k Kind) Build(dir string) (v1.ImageIndex, error) {
	recipe, err := os.ReadFile(filepath.Join(dir, k.dockerfile))
	if err != nil {
		return nil, fmt.Errorf("%w: write it by make bundle", err)
	}
	labels, folders, err := parse(string(recipe))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.dockerfile, err)
	}
	files := map[string]string{}
	for from, to := range folders {
		if err := readFolder(filepath.Join(dir, from), to, files); err != nil {
			return nil, err
		}
	}
	return oci.Files(labels, files)
}

// Digest is what the image of what is in dir will have when it is pushed.
func (k Kind) Digest(dir string) (string, error) {
	index, err := k.Build(dir)
	if err != nil {
		return "", err
	}
	digest, err := index.Digest()
	return digest.String(), err
}

// parse reads the few instructions of a Dockerfile that an image of files needs, and refuses others.
func parse(dockerfile string) (labels, folders map[string]string, err error) {
	labels, folders = map[string]string{}, map[string]string{}
	for line := range strings.Lines(dockerfile) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		label, value, isPair := strings.Cut(words[len(words)-1], "=")
		switch {
		case words[0] == "FROM" && len(words) == 2 && words[1] == "scratch":
		case words[0] == "LABEL" && len(words) == 2 && isPair:
			labels[label] = value
		case words[0] == "COPY" && len(words) == 3:
			folders[words[1]] = strings.Trim(words[2], "/")
		default:
			return nil, nil, fmt.Errorf("%q can't be built without a container tool: name one by CONTAINER_TOOL",
				strings.TrimSpace(line))
		}
	}
	return labels, folders, nil
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
