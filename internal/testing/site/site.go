// Package site brings up a local cluster that runs Pods, pushes the images of the working tree, and deploys the
// operator.
package site

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// Up brings a cluster up. It first installs the programs that the cluster or the image of memcached needs, and that the
// machine does not have.
func Up(ctx context.Context, options local.Options) (*pipeline.Pipeline, error) {
	options.Needs = preflight.Memcached()
	cluster, err := local.Up(ctx, options)
	if err != nil {
		return nil, err
	}
	return pipeline.New(ctx, cluster)
}

// Deploy deploys an overlay as a user does. If an operator is already deployed, it is replaced.
func Deploy(ctx context.Context, p *pipeline.Pipeline, overlay string, images pipeline.Images) error {
	deploy := exec.CommandContext(ctx, "go", "run", "./scripts/deploy", "apply", "overlays/"+overlay,
		"--kubeconfig="+p.Cluster.Kubeconfig, "--set-image=memcached-operator="+images.Operator, "--set-image=memcached-agent="+images.Agent,
		"--set-image=memcached="+images.Memcached, "--set-image=memcached-snapshot="+p.SnapshotRef())
	deploy.Dir = p.Root
	if out, err := deploy.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", deploy, err, out)
	}
	return nil
}

// PushOperator builds the operator's image of the working tree and pushes it.
func PushOperator(ctx context.Context, p *pipeline.Pipeline, version string) (string, error) {
	indexes, err := oci.BuildAll(ctx, oci.PlatformsOf(p.Architectures), func(string) {}, oci.Operator(p.Root, version))
	if err != nil {
		return "", err
	}
	return oci.Push(ctx, indexes[0], p.Registry+"/memcached-operator:"+version)
}

// PushSnapshot builds the image that saves caches, and pushes it to where a deployed operator expects it.
func PushSnapshot(ctx context.Context, p *pipeline.Pipeline) error {
	indexes, err := oci.BuildAll(ctx, oci.PlatformsOf(p.Architectures), func(string) {}, oci.Snapshot(p.Root, "test"))
	if err != nil {
		return err
	}
	_, err = oci.Push(ctx, indexes[0], p.SnapshotRef())
	return err
}

// RunClient runs the client in a new Pod.
func RunClient(
	ctx context.Context, p *pipeline.Pipeline, namespace, image string, args ...string,
) (clientpod.Keys, error) {
	clients := clientpod.Clients{Kube: p.Client, Config: p.Config, Namespace: namespace, Image: image}
	return clients.Run(ctx, func(string) {}, args...)
}
