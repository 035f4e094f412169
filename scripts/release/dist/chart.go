package dist

import (
	"context"
	"path/filepath"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

// chartsDir holds the Helm chart in a release.
const chartsDir = "charts"

// writeChart packs the Helm chart. Its images are those that the release's manifests name, by digest.
func writeChart(_ context.Context, c *Content) error {
	_, err := chart.Write(c.Dir, filepath.Join(c.Out, chartsDir), chart.Options{Version: c.Version})
	return err
}
