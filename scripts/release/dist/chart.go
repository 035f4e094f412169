package dist

import (
	"context"
	"os"
	"path"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

// chartsDir holds the Helm chart in a release, and in its registry.
const chartsDir = "charts"

// writeChart packs the Helm chart. Its images are those that the release's manifests name, by digest. Helm finds it in
// a repository of its name and under the plain version as its tag.
func writeChart(_ context.Context, c *Content) error {
	written, err := chart.Write(c.Dir, filepath.Join(c.Out, chartsDir), chart.Options{Version: c.Version})
	if err != nil {
		return err
	}
	artifact, err := readChart(written)
	if err != nil {
		return err
	}
	digest, err := artifact.Digest()
	c.Images = append(c.Images, Image{
		Name: chart.Name + "-chart", Repository: chartRepository(c.Registry), Tag: c.Version,
		Digest: digest.String(), Package: path.Join(chartsDir, filepath.Base(written)),
	})
	return err
}

func chartRepository(registry string) string { return path.Join(registry, chartsDir, chart.Name) }

// readChart makes of a package what registries keep of it.
func readChart(file string) (v1.Image, error) {
	packed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return chart.Image(packed)
}
