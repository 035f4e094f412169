package environment

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/debian"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// pushImages pushes memcached, twice, and the agent to the cluster's registry. The operator runs as a process, and
// needs no image.
func (e *Environment) pushImages(ctx context.Context, root string) error {
	return progress.Stage(ctx, "Images", func(update func(string)) error {
		program, version, err := oci.Agent(root)
		if err != nil {
			return err
		}
		agent, err := oci.BuildAll(ctx, []v1.Platform{oci.Host()}, update, program)
		if err != nil {
			return err
		}
		suite := debian.SuiteForSlots
		if _, err := debian.Mirror(ctx); err != nil {
			suite = "" // Use this machine's memcached. If it is too old, caches with slots start cold.
		}
		memcached, memcachedVersion, err := oci.Memcached(ctx, suite)
		if err != nil {
			return err
		}
		for _, it := range []struct {
			content oci.Artifact
			name    string
			tag     string
			to      *string
		}{
			{agent[0], "memcached-agent", version, &e.Images.Agent},
			{agent[0], "memcached-agent-later", version, &e.Images.LaterAgent},
			{memcached, "memcached", memcachedVersion, &e.Images.Memcached},
			{memcached, "memcached-later", memcachedVersion, &e.Images.LaterMemcached},
		} {
			update(it.name)
			if *it.to, err = oci.Push(ctx, it.content, e.Cluster.Image(it.name, it.tag)); err != nil {
				return err
			}
		}
		return nil
	})
}
