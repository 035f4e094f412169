package actions

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// fullNodes is that Nodes have no room for what Pods are to have, while the spec has another memory.
type fullNodes struct {
	lasting

	Reason string         `json:"reason"` // Deferred or Infeasible
	Spec   map[string]any `json:"spec"`
}

func drawFullNodes(r *rand.Rand) any {
	memory := fmt.Sprintf("%dMi", 600+r.IntN(1000)) // more than most have, as it shrinks late
	with := fullNodes{drawLasting(r), one(r, kubelet.Deferred, kubelet.Infeasible), resized(memory)}
	with.For.Duration += untilCopied
	return with
}

func refuseResizes(ctx context.Context, w *world.World, step plan.Step, with fullNodes) error {
	w.During(with.For.Duration, beginFault(ctx, w, step.Cache, with.Reason))
	return editSpec(world.WithoutEffect(ctx), w, step.Cache, func(spec map[string]any) map[string]any {
		return schema.Merge(spec, with.Spec)
	})
}
