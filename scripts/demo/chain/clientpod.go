package chain

import (
	"context"

	"github.com/example-inc/memcached-operator/scripts/demo/clientpod"
)

// Keys is what a run of the client told.
type Keys = clientpod.Keys

// RunClient runs the client to its end in a new Pod, and returns what it printed.
func (c *Chain) RunClient(ctx context.Context, namespace, image string, args ...string) (Keys, error) {
	config, err := c.Cluster.RESTConfig()
	if err != nil {
		return Keys{}, err
	}
	client := clientpod.Client{Kube: c.Client, Config: config, Namespace: namespace, Image: image}
	return client.Run(ctx, func(string) {}, args...)
}
