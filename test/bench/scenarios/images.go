package scenarios

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// images builds the three images for this machine's architecture.
func (b *Bench) images(ctx context.Context) (figures []report.Figure, err error) {
	agent, _, err := oci.Agent(b.Tree)
	if err != nil {
		return nil, err
	}
	for _, image := range []struct {
		name    string
		program oci.Program
		bound   float64
	}{
		{"operator", oci.Operator(b.Tree, "bench"), 25},
		{"agent", agent, 8},
		{"program that saves caches", oci.Snapshot(b.Tree, "bench"), 25},
	} {
		b.update(image.name)
		built, err := image.program.Build(ctx)
		if err != nil {
			return figures, err
		}
		size, err := compressed(built)
		if err != nil {
			return figures, err
		}
		figures = append(figures, report.AtMost(image.bound, "MiB", "image of the "+image.name+", compressed", size/mebibyte))
	}
	return figures, nil
}

// compressed is the number of bytes that a registry sends for an image.
func compressed(image v1.Image) (float64, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return 0, err
	}
	size := manifest.Config.Size
	for _, layer := range manifest.Layers {
		size += layer.Size
	}
	return float64(size), nil
}
