package environment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/example-inc/memcached-operator/internal/testing/install"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
	"github.com/example-inc/memcached-operator/scripts/demo/pipeline"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Real is a cluster whose kubelet runs Pods, with an operator that was installed with slots.
type Real struct {
	*pipeline.Pipeline
	Judge string // image of the client
}

// NewReal starts one. It needs root.
func NewReal(ctx context.Context, folders Folders) (_ *Real, err error) {
	name := fmt.Sprintf("bench-real-%.4x", sha256.Sum256([]byte(folders.Tree)))
	cluster, err := local.Up(ctx, local.Options{Name: name, Attached: true, Needs: preflight.Memcached()})
	if err != nil {
		return nil, err
	}
	r := &Real{}
	defer func() {
		if err != nil {
			err = errors.Join(err, cluster.Down(context.WithoutCancel(ctx)))
		}
	}()
	if r.Pipeline, err = pipeline.New(ctx, cluster); err != nil {
		return nil, err
	}
	return r, r.install(ctx)
}

// Close stops the cluster.
func (r *Real) Close(ctx context.Context) error { return r.Cluster.Down(context.WithoutCancel(ctx)) }

func (r *Real) install(ctx context.Context) error {
	images, err := r.PushImages(ctx, "bench", func(string) {})
	if err != nil {
		return err
	}
	memcached, err := r.PushMemcached(ctx, "forky") // This distribution's may be too old for slots.
	if err != nil {
		return err
	}
	r.Judge = images.Client
	return install.Overlay(ctx, r.Root, r.Cluster.Kubeconfig, oci.Host().Architecture, map[string]string{
		"memcached-operator": images.Operator, "memcached-agent": images.Agent, "memcached": memcached,
	})
}
