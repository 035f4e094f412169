package rows

import (
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// images builds the two images for this machine's architecture.
func images(ctx context.Context, b *Bench, update func(string)) (figures []report.Figure, err error) {
	agent, _, err := oci.Agent(b.Tree)
	if err != nil {
		return nil, err
	}
	for _, image := range []struct {
		name    string
		program oci.Program
		most    float64
	}{
		{"operator", oci.Operator(b.Tree, "bench"), 25},
		{"agent", agent, 8},
	} {
		update(image.name)
		built, err := image.program.Build(ctx)
		if err != nil {
			return figures, err
		}
		size, err := compressed(built)
		if err != nil {
			return figures, err
		}
		figures = append(figures, report.Judge(fmt.Sprintf("image of the %s, compressed", image.name),
			size/mebibyte, report.AtMost(image.most, "MiB")))
	}
	return figures, nil
}

// compressed is what a registry sends of an image, in bytes.
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
