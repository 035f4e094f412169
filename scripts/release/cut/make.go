package cut

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/chart"
	"github.com/example-inc/memcached-operator/scripts/release/plugin"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// recordFile is the file that describes the release for other programs.
const recordFile = "release.json"

// Make writes the release into the folder r.Out. If it fails, the folder stays as it was.
func (r *Release) Make(ctx context.Context) error {
	return replace(ctx, r.Out, func(dir string) error {
		return r.inCopy(ctx, func(t *Tree) error {
			t.out, t.computers = dir, r.Computers
			return t.write(ctx)
		})
	})
}

// write writes all parts of a release. It writes the checksums last.
func (t *Tree) write(ctx context.Context) error {
	for _, part := range []struct {
		title string
		write func() error
	}{
		{"Plugin of kubectl", func() error {
			return plugin.Write(ctx, t.out, plugin.Options{
				Root: t.Dir, Version: t.Version, Time: t.Time, Platforms: t.computers, Compile: oci.Compile,
			})
		}},
		{"Images as OCI layouts, and SBOMs", t.writeImages},
		{"Manifests", t.writeManifests},
		{"Helm chart", t.writeChart},
		{"Mirror list", t.writeMirrorList},
		{"Release notes", t.writeNotes},
		{"Checksums", t.seal},
	} {
		if err := progress.Stage(ctx, part.title, func(func(string)) error { return part.write() }); err != nil {
			return fmt.Errorf("%s: %w", part.title, err)
		}
	}
	return nil
}

func (t *Tree) writeFile(name string, content []byte) error {
	return worktree.WriteFile(filepath.Join(t.out, name), content, 0o644)
}

func (t *Tree) writeImages() error {
	for _, i := range t.Images {
		if err := t.writeImage(i); err != nil {
			return err
		}
	}
	return nil
}

// writeImage writes an image that is new in this release, as an OCI layout, and an SBOM of it, unless it is the chart.
// The layout's index has the tag of the image, as skopeo and crane expect.
func (t *Tree) writeImage(i Image) error {
	if i.Content == nil {
		return nil
	}
	to, err := layout.Write(filepath.Join(t.out, i.Layout), empty.Index)
	if err != nil {
		return err
	}
	tag := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": i.Tag})
	if chart, isChart := i.Content.(v1.Image); isChart {
		return to.AppendImage(chart, tag)
	}
	var document bytes.Buffer
	index, _ := i.Content.(v1.ImageIndex)
	if err := errors.Join(to.AppendIndex(index, tag), writeSBOM(&document, i, index, t.Time)); err != nil {
		return err
	}
	return t.writeFile("sbom/"+i.Name+".spdx.json", document.Bytes())
}

// manifestHead is the comment at the head of a manifest. It warns users about deleting the objects of the manifest.
const manifestHead = `# Install, upgrade:  kubectl apply --server-side -f FILE
# Uninstall:         kubectl delete -f FILE -l 'app.kubernetes.io/component!=crd'
# Without the selector, the CRD is deleted, too, and with it every Memcached of the cluster and its cache.
`

// writeManifests builds a manifest of each overlay. The manifest of the overlay for several architectures has the plain
// name install.yaml.
func (t *Tree) writeManifests() error {
	overlays, err := filepath.Glob(filepath.Join(t.Dir, "overlays/*/kustomization.yaml"))
	if err != nil {
		return err
	}
	for _, file := range overlays {
		overlay := filepath.Base(filepath.Dir(file))
		manifest, err := kustomize.Manifest(filepath.Dir(file))
		if err != nil {
			return err
		}
		for _, i := range t.Images[:3] {
			if !strings.Contains(manifest, ": "+i.String()+"\n") {
				return fmt.Errorf("overlays/%s does not use %s: remove the image that this overlay sets", overlay, i)
			}
		}
		name := "install" + strings.TrimSuffix("-"+overlay, "-multiarch") + ".yaml"
		if err := t.writeFile(name, []byte(strings.ReplaceAll(manifestHead, "FILE", name)+manifest)); err != nil {
			return err
		}
	}
	return nil
}

// chartPath is the path of the Helm chart in the registry, after the registry's host and path.
const chartPath = "charts/" + chart.Name

// writeChart packs the Helm chart, with the images that the manifests name, and writes its layout. Helm finds a chart
// only in a repository whose path ends in the chart's name, and only if the tag is the plain version.
func (t *Tree) writeChart() error {
	_, artifact, err := chart.Write(t.Dir, filepath.Join(t.out, "charts"), chart.Options{Version: t.Version})
	if err != nil {
		return err
	}
	if err := t.addImage(chart.Name+"-chart", chartPath, t.Version, artifact); err != nil {
		return err
	}
	return t.writeImage(t.Images[len(t.Images)-1])
}

// writeMirrorList lists every image that a cluster pulls: each line has the image to copy, by digest, and the path and
// tag of the copy. A shell reads the lines by `while read -r image path`.
func (t *Tree) writeMirrorList() error {
	var images []string
	for _, i := range t.Images {
		images = append(images, i.String())
	}
	var list strings.Builder
	for _, image := range append(images, t.Memcached) {
		named, err := reference.ParseNormalizedNamed(image)
		if err != nil {
			return fmt.Errorf("%s: %w", image, err)
		}
		source, path := named.String(), reference.Path(named)
		if digested, ok := named.(reference.Digested); ok {
			source = named.Name() + "@" + digested.Digest().String()
		}
		if tagged, ok := named.(reference.Tagged); ok {
			path += ":" + tagged.Tag()
		}
		fmt.Fprintln(&list, source, path)
	}
	return t.writeFile("images.txt", []byte(list.String()))
}

//go:embed notes.md
var notes string

// withArea matches the subject of a commit: `area: what and why`.
var withArea = regexp.MustCompile(`^([\w./, -]+): (.+)$`)

// writeNotes writes the text of the release page.
func (t *Tree) writeNotes() error {
	changes := map[string][]string{}
	for _, subject := range t.Subjects {
		area, text := "others", subject
		if match := withArea.FindStringSubmatch(subject); match != nil {
			area, text = match[1], match[2]
		}
		changes[area] = append(changes[area], text)
	}
	var text strings.Builder
	err := template.Must(template.New("").Parse(notes)).Execute(&text, map[string]any{
		"Release": t, "Name": chart.Name, "ChartPath": chartPath, "Changes": changes,
		"AgentKept": t.Images[1].Content == nil, "Pinned": strings.Contains(t.Memcached, "@"),
	})
	if err != nil {
		return err
	}
	return t.writeFile("release-notes.md", []byte(text.String()))
}

// seal writes the record and the checksums of a release, after all other parts, from which they are made.
func (t *Tree) seal() error {
	record, err := json.MarshalIndent(t.Record, "", "  ")
	if err != nil {
		return err
	}
	if err := t.writeFile(recordFile, append(record, '\n')); err != nil {
		return err
	}
	files, err := sums(t.out)
	if err != nil {
		return err
	}
	return t.writeFile(sumsFile, []byte(files))
}

// ReadRecord reads the record of the release in dir.
func ReadRecord(dir string) (*Record, error) {
	content, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, fmt.Errorf("%s holds no release: make one by make release OUT=%[1]s: %w", dir, err)
	}
	record := &Record{}
	if err := json.Unmarshal(content, record); err != nil {
		return nil, fmt.Errorf("%s: %w", recordFile, err)
	}
	return record, nil
}
