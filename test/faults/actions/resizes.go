package actions

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/example-inc/memcached-operator/internal/testing/kubelet"
	"github.com/example-inc/memcached-operator/internal/testing/reporting"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// fullNodes is a change to the memory in the spec, while the Nodes have no room to resize the Pods.
type fullNodes struct {
	lasting

	Reason string         `json:"reason"` // Deferred, Infeasible or Halfway
	Spec   map[string]any `json:"spec"`
	Use    reporting.Use  `json:"use"` // the reported use, for a cache whose memory follows its use
}

func drawFullNodes(r *rand.Rand) any {
	memory := 600 + r.IntN(1000) // more than most caches have, because shrinking comes late
	reason := one(r, kubelet.Deferred, kubelet.Infeasible, kubelet.Halfway)
	with := fullNodes{
		drawLasting(r), reason, resized(fmt.Sprintf("%dMi", memory)), reporting.Use{Hour: int64(memory), Observed: day},
	}
	with.For.Duration += untilCopied
	return with
}

func refuseResizes(ctx context.Context, w *world.World, step plan.Step, with fullNodes) error {
	w.During(with.For.Duration, beginFault(ctx, w, step.Cache, with.Reason))
	w.SetUse(step.Cache, with.Use)
	return editSpec(world.WithoutEffect(ctx), w, step.Cache, func(spec map[string]any) map[string]any {
		if acts(spec) {
			return spec
		}
		return schema.Merge(spec, with.Spec)
	})
}
