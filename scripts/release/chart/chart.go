// Package chart makes a Helm chart from the same manifests as the overlays. With its default values, the chart renders
// what overlays/multiarch builds; each other value renders what the overlay or component of that purpose builds.
package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/distribution/reference"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// Name is the chart's name, and the name of the release in all examples.
const Name = bundle.Package

// Options describe the release that a chart installs.
type Options struct {
	Version string // of chart and operator, such as 0.2.0

	// Images of the release, with tag or digest. An empty one is as in the manifests.
	Operator, Agent, Memcached string

	// Time is the modification time of all files in the package. The zero value is the time of the release's commit,
	// as noted in the base of the ClusterServiceVersion.
	Time time.Time
}

// Files are the contents of a chart's files by their paths below the chart's folder.
type Files map[string]string

// Build makes the chart of the repository at root. It writes nothing.
func Build(root string, o Options) (Files, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	m, err := readManifests(root)
	if err != nil {
		return nil, err
	}
	if err := m.setImages(o); err != nil {
		return nil, err
	}
	about, err := readAbout(root)
	if err != nil {
		return nil, err
	}
	values, err := m.values()
	if err != nil {
		return nil, err
	}
	files, err := m.templates()
	if err != nil {
		return nil, err
	}
	for path, write := range map[string]func() (string, error){
		"Chart.yaml":             func() (string, error) { return chartFile(o, about, m.images) },
		"README.md":              func() (string, error) { return readme(values) },
		"values.yaml":            func() (string, error) { return valuesFile(values) },
		"values.schema.json":     func() (string, error) { return schemaFile(values) },
		"templates/NOTES.txt":    func() (string, error) { return staticFile("NOTES.txt") },
		"templates/_helpers.tpl": func() (string, error) { return staticFile("helpers.tpl") },
	} {
		if files[path], err = write(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return files, nil
}

// Write writes the chart's package into a folder, and returns its path.
func Write(root, dir string, o Options) (path string, err error) {
	files, err := Build(root, o)
	if err != nil {
		return "", err
	}
	if o.Time.IsZero() {
		about, err := readAbout(root)
		if err != nil {
			return "", err
		}
		if o.Time, err = about.createdAt(); err != nil {
			return "", err
		}
	}
	packed, err := files.pack(o.Time)
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
	if err := bundle.ValidateVersion("version", o.Version); err != nil {
		return err
	}
	for flag, image := range map[string]string{
		"image": o.Operator, "agent-image": o.Agent, "memcached-image": o.Memcached,
	} {
		if image == "" {
			continue
		}
		if err := bundle.ValidateImage(flag, image); err != nil {
			return err
		}
	}
	return nil
}

// image is a reference in two parts: users may replace the repository alone, such as by a mirror.
type image struct{ repository, rest string }

func parseImage(text string) (image, error) {
	parsed, err := reference.Parse(text)
	if err != nil {
		return image{}, fmt.Errorf("image %q: %w", text, err)
	}
	named, ok := parsed.(reference.Named)
	if !ok || named.Name() == text {
		return image{}, fmt.Errorf("image %q: write a name with a tag or a digest", text)
	}
	return image{repository: named.Name(), rest: text[len(named.Name()):]}, nil
}

func (i image) String() string { return i.repository + i.rest }
