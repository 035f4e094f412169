package slots

import (
	"slices"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// replicas returns the desired replicas of the Deployment. It is scaled down only when the Pods that gave their slot
// away are the first that the ReplicaSet deletes.
func (s *state) replicas() int {
	size := s.Size
	if s.target > s.Size && (s.joining != nil || s.isCalm() && !s.endsOutdated(s.Size)) {
		size++ // One slot is added at a time, and none during a rollout: the Deployment would wait for the slot's Pod.
	}
	if s.Deployed > size && !s.canScaleDown() {
		return s.Deployed
	}
	return size
}

// endsOutdated reports whether an outdated Pod that gave this slot away has not ended yet. A new Pod for that slot
// would wait until the outdated Pod has ended, and the Deployment would delete the outdated Pod only after the new Pod
// is ready.
func (s *state) endsOutdated(slot int) bool {
	return slices.ContainsFunc(s.live, func(pod *Pod) bool { return s.isOutdated(pod) && s.gaveAway(pod, slot) })
}

// canScaleDown reports whether every Pod without a slot is deleted before those with one.
func (s *state) canScaleDown() bool {
	for _, endpoint := range s.Endpoints {
		if endpoint.Slot >= s.Size {
			return false
		}
	}
	for _, pod := range s.live {
		if s.holds(pod) || pod.Terminating {
			continue
		}
		if pod.Ready || pod.GateTrue || pod.Instruction.Role == instruction.Leave && pod.Cost > CostLeave {
			return false
		}
	}
	return true
}
