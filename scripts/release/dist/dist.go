// Package dist makes a release in a folder: manifests, images, chart, lists and checksums. It pushes nothing, asks no
// registry, and makes the same bytes of the same commit. Push pushes what is in such a folder.
package dist

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/chart"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// recordFile describes the release for programs.
const recordFile = "release.json"

// content is what a release is made of, and the folder to write it to.
type content struct {
	*cut.Tree

	out string
}

// Build builds the images of operator and agent for some platforms.
func Build(platforms []v1.Platform) func(context.Context, string, string) (operator, agent v1.ImageIndex, err error) {
	return func(ctx context.Context, dir, version string) (operator, agent v1.ImageIndex, err error) {
		program, _, err := oci.Agent(dir)
		if err != nil {
			return nil, nil, err
		}
		err = progress.Stage(ctx, "Images of operator and agent", func(update func(string)) error {
			indexes, err := oci.BuildAll(ctx, platforms, update, oci.Operator(dir, version), program)
			if err == nil {
				operator, agent = indexes[0], indexes[1]
			}
			return err
		})
		return operator, agent, err
	}
}

// Make writes the release into the folder r.Out. If it fails, the folder stays as it was.
func Make(ctx context.Context, r *cut.Release, platforms []v1.Platform) error {
	tree, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	return replace(r.Out, func(dir string) error {
		r.Build = Build(platforms)
		t, err := r.WriteTo(ctx, tree)
		if err != nil {
			return err
		}
		t.Go, _, _ = strings.Cut(runtime.Version(), "-X:") // The images are built without any experiment.
		for _, platform := range platforms {
			t.Platforms = append(t.Platforms, platform.String())
		}
		return write(ctx, &content{t, dir})
	})
}

// write writes all parts of a release, the checksums last.
func write(ctx context.Context, c *content) error {
	for _, part := range []struct {
		title string
		write func() error
	}{
		{"Images as OCI layouts, and SBOMs", c.writeImages},
		{"Manifests", c.writeManifests},
		{"Helm chart", c.writeChart},
		{"Mirror list", c.writeMirrorList},
		{"Release notes", c.writeNotes},
		{"Checksums", c.seal},
	} {
		if err := progress.Stage(ctx, part.title, func(func(string)) error { return part.write() }); err != nil {
			return fmt.Errorf("%s: %w", part.title, err)
		}
	}
	return nil
}

func (c *content) writeFile(name string, content []byte) error {
	return worktree.WriteFile(filepath.Join(c.out, name), content, 0o644)
}

// writeImages writes a layout and an SBOM of each image that is new in this release.
func (c *content) writeImages() error {
	for _, i := range c.Images {
		if i.Index == nil {
			continue
		}
		to, tag, err := c.newLayout(i)
		if err != nil {
			return err
		}
		var document bytes.Buffer
		if err := errors.Join(to.AppendIndex(i.Index, tag), writeSBOM(&document, i, c.Time)); err != nil {
			return err
		}
		if err := c.writeFile("sbom/"+i.Name+".spdx.json", document.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// newLayout makes a layout. It will list one image or index with its tag, as skopeo and crane expect.
func (c *content) newLayout(i cut.Image) (to layout.Path, tag layout.Option, err error) {
	dir := filepath.Join(c.out, i.Layout)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	to, err = layout.Write(dir, empty.Index)
	return to, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": i.Tag}), err
}

// writeManifests builds a manifest of each overlay. That of the overlay for several architectures has the plain name.
func (c *content) writeManifests() error {
	overlays, err := filepath.Glob(filepath.Join(c.Dir, "overlays/*/kustomization.yaml"))
	if err != nil {
		return err
	}
	for _, file := range overlays {
		overlay := filepath.Base(filepath.Dir(file))
		built, err := kustomize.Build(filepath.Dir(file))
		if err != nil {
			return err
		}
		manifest, err := built.AsYaml()
		if err != nil {
			return err
		}
		for _, i := range c.Images[:2] {
			if !bytes.Contains(manifest, []byte(": "+i.String()+"\n")) {
				return fmt.Errorf("overlays/%s does not use %s: remove the image that it sets", overlay, i)
			}
		}
		name := "install" + strings.TrimSuffix("-"+overlay, "-multiarch") + ".yaml"
		if err := c.writeFile(name, manifest); err != nil {
			return err
		}
	}
	return nil
}

// writeChart packs the Helm chart, with the images that the manifests name, and writes its layout. Helm finds it in a
// repository that ends in its name, and with the plain version as its tag.
func (c *content) writeChart() error {
	_, artifact, err := chart.Write(c.Dir, filepath.Join(c.out, "charts"), chart.Options{Version: c.Version})
	if err != nil {
		return err
	}
	digest, err := artifact.Digest()
	if err != nil {
		return err
	}
	i := cut.Image{
		Name: chart.Name + "-chart", Repository: c.ChartRepository(), Tag: c.Version,
		Digest: digest.String(), Layout: "images/" + chart.Name + "-chart",
	}
	c.Images = append(c.Images, i)
	to, tag, err := c.newLayout(i)
	if err != nil {
		return err
	}
	return to.AppendImage(artifact, tag)
}

// ChartRepository is the repository of the Helm chart.
func (c *content) ChartRepository() string { return path.Join(c.Registry, "charts", chart.Name) }

// seal writes what follows from all other parts of a release: its record and its checksums.
func (c *content) seal() error {
	record, err := json.MarshalIndent(c.Record, "", "  ")
	if err != nil {
		return err
	}
	if err := c.writeFile(recordFile, append(record, '\n')); err != nil {
		return err
	}
	files, err := sums(c.out)
	if err != nil {
		return err
	}
	return c.writeFile(sumsFile, []byte(files))
}

// ReadRecord reads the record of the release in dir.
func ReadRecord(dir string) (*cut.Record, error) {
	content, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, fmt.Errorf("%s holds no release: make one by make release OUT=%[1]s: %w", dir, err)
	}
	record := &cut.Record{}
	if err := json.Unmarshal(content, record); err != nil {
		return nil, fmt.Errorf("%s: %w", recordFile, err)
	}
	return record, nil
}
