// Package dist makes a whole release in a folder: manifests, images, lists and checksums. It pushes nothing, asks no
// registry, and makes the same bytes of the same commit.
package dist

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
)

// Release is what a release is told.
type Release struct {
	cut.Release
	Platforms []v1.Platform
}

// Content is what the parts of a release are made of.
type Content struct {
	*cut.Stamped // the tree of the release, and what it names

	Out       string // folder to write to
	Platforms []v1.Platform
	Images    []Image
}

// A part writes some files of a release.
type part struct {
	title string
	write func(ctx context.Context, c *Content) error
}

// parts of a release, in the order in which they are written. Further ones are added here.
var parts = []part{
	{"Images as OCI layouts", writeImages},
	{"Manifests", writeManifests},
	{"SBOMs", writeSBOMs},
	{"Helm chart", writeChart},
	{"Mirror list", writeMirrorList},
	{"Release notes", writeNotes},
}

// Make writes the release. Where it fails, the folder stays as it was.
func (r *Release) Make(ctx context.Context) (*Made, error) {
	p, err := openPlace(r.Out)
	if err != nil {
		return nil, err
	}
	defer p.close()
	tree, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tree)
	c, err := r.content(ctx, tree)
	if err != nil {
		return nil, err
	}
	c.Out = p.temporary
	for _, part := range parts {
		err := progress.Stage(ctx, part.title, func(func(string)) error { return part.write(ctx, c) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.title, err)
		}
	}
	record, err := writeRecord(c)
	if err != nil {
		return nil, err
	}
	if err := writeSums(c.Out); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return newMade(r.Out, record)
}

// content makes the tree of the release, and the images that it names.
func (r *Release) content(ctx context.Context, tree string) (*Content, error) {
	var programs *Programs
	r.AgentSources = AgentSources
	r.Build = func(ctx context.Context, dir, version string) (cut.Digests, error) {
		var err error
		if programs, err = Build(ctx, dir, version, r.Platforms); err != nil {
			return cut.Digests{}, err
		}
		return programs.Digests()
	}
	stamped, err := r.WriteTo(ctx, tree)
	if err != nil {
		return nil, err
	}
	images, err := collectImages(stamped, programs)
	return &Content{Stamped: stamped, Platforms: r.Platforms, Images: images}, err
}

// writeFile writes a file of the release.
func (c *Content) writeFile(name string, content []byte) error {
	path := filepath.Join(c.Out, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
