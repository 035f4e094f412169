package dist

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
	"github.com/example-inc/memcached-operator/scripts/release/image"
)

// Image is one of the images that a release consists of.
type Image struct {
	Name       string `json:"name"`       // such as memcached-operator
	Repository string `json:"repository"` // registry and path
	Tag        string `json:"tag"`
	Digest     string `json:"digest"`

	// Layout is the image's folder in the release, and Package the file of a Helm chart, which registries keep like an
	// image. An image of an earlier release, which this one names, has neither.
	Layout  string `json:"layout,omitempty"`
	Package string `json:"package,omitempty"`

	// Index is what Layout holds.
	Index v1.ImageIndex `json:"-"`
}

// Programs are the images that are built of Go code.
type Programs struct{ Operator, Agent v1.ImageIndex }

// Build builds the images of operator and agent of the sources in dir.
func Build(ctx context.Context, dir, version string, platforms []v1.Platform) (*Programs, error) {
	agent, _, err := oci.Agent(dir)
	if err != nil {
		return nil, err
	}
	programs := &Programs{}
	err = progress.Stage(ctx, "Images of operator and agent", func(update func(string)) error {
		indexes, err := oci.BuildTogether(ctx, platforms, update, oci.Operator(dir, version), agent)
		if err != nil {
			return err
		}
		programs.Operator, programs.Agent = indexes[0], indexes[1]
		return nil
	})
	return programs, err
}

// Digests are those of the images.
func (p *Programs) Digests() (d cut.Digests, err error) {
	operator, err := p.Operator.Digest()
	if err != nil {
		return d, err
	}
	agent, err := p.Agent.Digest()
	return cut.Digests{Operator: operator.String(), Agent: agent.String()}, err
}

// AgentSources names the folders in dir that the agent is made of.
func AgentSources(ctx context.Context, dir string) ([]string, error) {
	program, _, err := oci.Agent(dir)
	if err != nil {
		return nil, err
	}
	return program.Sources(ctx)
}

// collectImages pairs the images with the references that the tree has for them.
func collectImages(stamped *cut.Stamped, programs *Programs) ([]Image, error) {
	olm := filepath.Join(stamped.Dir, bundle.Dir)
	bundleIndex, err := image.Bundle.Build(olm)
	if err != nil {
		return nil, err
	}
	catalogIndex, err := image.Catalog.Build(olm)
	if err != nil {
		return nil, err
	}
	agent := programs.Agent
	if stamped.AgentKept {
		agent = nil
	}
	return []Image{
		newImage(stamped.Operator, programs.Operator), newImage(stamped.Agent, agent),
		newImage(stamped.Bundle, bundleIndex), newImage(stamped.Catalog, catalogIndex),
	}, nil
}

// newImage takes a reference by tag and digest. Without an index the image is of an earlier release.
func newImage(reference string, index v1.ImageIndex) Image {
	byTag, digest, _ := strings.Cut(reference, "@")
	colon := strings.LastIndex(byTag, ":")
	i := Image{Repository: byTag[:colon], Tag: byTag[colon+1:], Digest: digest, Index: index}
	i.Name = path.Base(i.Repository)
	if index != nil {
		i.Layout = "images/" + i.Name
	}
	return i
}

// refName is the annotation by which tools know the tag of an image in a layout.
const refName = "org.opencontainers.image.ref.name"

// writeImages writes a layout for each image. It lists one index, as skopeo and crane expect.
func writeImages(_ context.Context, c *Content) error {
	for _, i := range c.Images {
		if i.Index == nil {
			continue
		}
		digest, err := i.Index.Digest()
		if err != nil {
			return err
		}
		if digest.String() != i.Digest {
			return fmt.Errorf("%s has the digest %s, and the manifests name %s", i.Name, digest, i.Digest)
		}
		dir := filepath.Join(c.Out, i.Layout)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		to, err := layout.Write(dir, empty.Index)
		if err != nil {
			return err
		}
		if err := to.AppendIndex(i.Index, layout.WithAnnotations(map[string]string{refName: i.Tag})); err != nil {
			return err
		}
	}
	return nil
}
