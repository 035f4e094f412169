package campaign

// This file is about caches whose memory follows their use.

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/actions"
)

const (
	// longestReport is how long the operator may send no request, until it reads the next report of a cache and has
	// something to do. longestStep is how long it may send no request until it has the reports of all Pods, and may reduce
	// the memory.
	longestReport = 3 * time.Second
	longestStep   = 7 * time.Second

	// untilSettled is how long the operator may take until it is at rest. It includes the time in which a large memory
	// shrinks by a fifth each time, with some seconds in between.
	untilSettled = patience + 90*time.Second
)

// follow changes the spec so that the memory of the Memcached follows its use, if the plan says so.
func (r *run) follow(mc *cachev1.Memcached) error {
	if !slices.Contains(r.plan.Acts, mc.Name) {
		return nil
	}
	drawn := rand.New(rand.NewPCG(r.plan.Seed, 4)) //nolint:gosec // the same seed must give the same bounds
	content, err := json.Marshal(actions.Following(drawn))
	if err != nil {
		return err
	}
	return json.Unmarshal(content, &mc.Spec)
}

// betweenReports returns the longest time for which the operator can be idle before the next report of an agent makes
// it act. It is 0 for a spec without autoscaling.
func betweenReports(spec cachev1.MemcachedSpec) time.Duration {
	switch {
	case spec.Autoscaling == nil:
		return 0
	case actsOn(spec):
		return longestStep
	}
	return longestReport
}

// actsOn reports whether the memory of a cache with this spec follows its use.
func actsOn(spec cachev1.MemcachedSpec) bool {
	return spec.Autoscaling != nil && spec.Autoscaling.Memory != nil &&
		spec.Autoscaling.Memory.Mode == cachev1.AutoscalingAct
}
