// Package chart makes a Helm chart of the manifests that the overlays build. The folder files holds what is the same in
// each chart, edits.yaml what makes templates of the manifests.
package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// Name is the chart's name, and the name of the Helm release in all examples.
const Name = bundle.Package

// Options describe the release that a chart installs.
type Options struct {
	Version string // of chart and operator, such as 0.2.0

	// Images of the release, with tag or digest. An empty one is as in the manifests.
	Operator, Agent, Memcached string
}

// Files are the contents of a chart's files by their paths below the chart's folder.
type Files map[string]string

// Build makes the chart of the repository at root. It writes nothing.
func Build(root string, o Options) (Files, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s, err := readSource(root, o)
	if err != nil {
		return nil, err
	}
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

// Write writes the chart's package into a folder, and returns its path.
func Write(root, dir string, o Options) (path string, err error) {
	files, err := Build(root, o)
	if err != nil {
		return "", err
	}
	modified, err := createdAt(root)
	if err != nil {
		return "", err
	}
	packed, err := files.pack(modified)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, Name+"-"+o.Version+".tgz")
	return path, os.WriteFile(path, packed, 0o644)
}

func (o Options) validate() error {
	errs := []error{bundle.ValidateVersion("version", o.Version)}
	for _, image := range [][2]string{
		{"image", o.Operator}, {"agent-image", o.Agent}, {"memcached-image", o.Memcached},
	} {
		if image[1] != "" {
			errs = append(errs, bundle.ValidateImage(image[0], image[1]))
		}
	}
	return errors.Join(errs...)
}

// pack makes the package as helm package does, but the same files make the same bytes.
func (f Files) pack(modified time.Time) ([]byte, error) {
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zipped)
	for _, path := range slices.Sorted(maps.Keys(f)) { // Chart.yaml comes first, as Helm and Image expect.
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: Name + "/" + path, Mode: 0o644, Size: int64(len(f[path])), ModTime: modified.UTC(),
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(f[path])); err != nil {
			return nil, err
		}
	}
	err = errors.Join(archive.Close(), zipped.Close())
	return packed.Bytes(), err
}
