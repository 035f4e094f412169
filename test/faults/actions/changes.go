package actions

import (
	"context"
	"math/rand/v2"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// changes are those of users on a Memcached.
func changes(_ *schema.Schema) []Action {
	return []Action{
		{plan.Action{Name: "scale", Weight: 8, Draw: func(r *rand.Rand) any { return size{r.IntN(6)} }}, scale},
	}
}

type size struct {
	Size int `json:"size"`
}

func scale(ctx context.Context, w *world.World, step plan.Step) error {
	to, err := arguments[size](step)
	if err != nil {
		return err
	}
	return attempt(ctx, func(ctx context.Context) error {
		mc, err := w.Memcached(ctx, step.Cache)
		if err != nil {
			return err
		}
		before := client.MergeFrom(mc.DeepCopy())
		mc.Spec.Size = new(int32(to.Size))
		return w.Client.Patch(ctx, mc, before)
	})
}
