package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
)

// Real is a lab in a cluster whose node runs Pods.
type Real struct {
	*Lab
	Cluster *local.Cluster
}

// realName is that of the cluster.
const realName = "bench"

// NewReal brings up a real cluster, with the images of the working tree in its registry. It needs root.
func NewReal(ctx context.Context, tree, dir string, programs Programs, update func(string)) (r *Real, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("a real cluster needs root")
	}
	if _, err := local.Find(realName); err == nil {
		return nil, fmt.Errorf("cluster %s runs already: go run ./scripts/cluster down --name %[1]s", realName)
	}
	cluster, err := local.Up(ctx, local.Options{Name: realName, Needs: preflight.Memcached()})
	if err != nil {
		return nil, err
	}
	stop := func() error {
		_, err := local.Down(context.WithoutCancel(ctx), realName)
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	at, err := pipeline.New(ctx, cluster)
	if err != nil {
		return nil, err
	}
	images, err := at.PushImages(ctx, "bench", update)
	if err != nil {
		return nil, err
	}
	config, err := cluster.RESTConfig()
	if err != nil {
		return nil, err
	}
	l, err := newLab(ctx, tree, dir, programs, config)
	if err != nil {
		return nil, err
	}
	l.stop = stop
	l.Environment = []string{"RELATED_IMAGE_MEMCACHED=" + images.Memcached, "RELATED_IMAGE_AGENT=" + images.Agent}
	return &Real{Lab: l, Cluster: cluster}, nil
}

// NodePid is a process in the node's network.
func (r *Real) NodePid() (int, error) {
	parts, err := r.Cluster.Parts()
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(parts, func(part local.Part) bool { return part.Name == "kubelet" })
	if i < 0 {
		return 0, fmt.Errorf("the cluster has no kubelet among %v", parts)
	}
	return parts[i].Pid, nil
}
