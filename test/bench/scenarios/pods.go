package scenarios

import (
	"context"
	"errors"

	"github.com/example-inc/memcached-operator/internal/testing/judging"
	"github.com/example-inc/memcached-operator/internal/testing/site"
	"github.com/example-inc/memcached-operator/scripts/cluster/local"
	"github.com/example-inc/memcached-operator/scripts/images/debian"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
	"github.com/example-inc/memcached-operator/test/client/clientpod"
)

// onPods measures what clients of caches see, on a cluster that runs Pods. It uses a version of memcached that slots
// support.
func (b *Bench) onPods(
	ctx context.Context, measure func(judging.Judge) ([]report.Figure, error),
) (figures []report.Figure, err error) {
	b.update("cluster")
	p, err := site.Up(ctx, local.Options{Name: environment.ClusterName(b.Tree), Attached: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Cluster.Down(context.WithoutCancel(ctx))) }()
	images, err := p.PushImages(ctx, "bench", b.update)
	if err != nil {
		return nil, err
	}
	if images.Memcached, err = p.PushMemcached(ctx, debian.SuiteForSlots); err != nil {
		return nil, err
	}
	if err := site.Deploy(ctx, p, oci.Host().Architecture, images); err != nil {
		return nil, err
	}
	return measure(judging.Judge{
		Clients: clientpod.Clients{
			Kube: p.Client, Config: p.Config, Image: images.Client, Timeout: timeout, Requests: cpu("500m"),
		},
		Cache: "cache", Port: 11211,
	})
}
