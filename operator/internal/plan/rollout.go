package plan

// How many Pods may be missing during a rollout, and during a drain of Nodes.

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// defaultTerminationDelaySeconds is long enough for a Pod's address to disappear from the DNS answers that clients
// cache (kubeadm sets up CoreDNS with a TTL of 30 seconds; its default is 5).
const defaultTerminationDelaySeconds = 30

// none stands for 0 Pods.
var none = intstr.FromInt32(0)

func rollout(spec cachev1.MemcachedSpec, slots bool) Rollout {
	wanted := orZero(spec.Rollout)
	surge, unavailable := orDefault(wanted.MaxSurge, intstr.FromInt32(1)), orDefault(wanted.MaxUnavailable, none)
	minReady := orDefault(wanted.MinReadySeconds, 0)
	deadline := minReady + DefaultProgressDeadlineSeconds
	if slots {
		deadline += handoffTimeoutSeconds(spec)
		unavailable = none // If the spec removes slots, this lasts until no Pod has a slot.
		if isZero(surge) {
			surge = intstr.FromInt32(1)
		}
	}
	return Rollout{
		MaxSurge:                surge,
		MaxUnavailable:          unavailable,
		MinReadySeconds:         minReady,
		ProgressDeadlineSeconds: orDefault(wanted.ProgressDeadlineSeconds, deadline),
		RevisionHistoryLimit:    wanted.RevisionHistoryLimit,
	}
}

// disruption returns nil for a single Pod, because a budget for it would either block every drain of its Node, or have
// no effect.
func (d Draft) disruption(size int32) *intstr.IntOrString {
	if size <= 1 {
		return nil
	}
	return new(orDefault(orZero(d.memcached.Spec.Disruption).MaxUnavailable, intstr.FromInt32(1)))
}
