package supervisor

import (
	"log"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/example-inc/memcached-operator/scripts/cluster/rundir"
)

// newRegistry serves images whose layers lie on disk.
func newRegistry(dir rundir.Dir) (http.Handler, error) {
	file, err := dir.OpenLog("registry")
	if err != nil {
		return nil, err
	}
	blobs := dir.Path("registry")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return nil, err
	}
	return registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)),
		registry.WithReferrersSupport(true),
		registry.Logger(log.New(file, "", log.LstdFlags)),
	), nil
}
