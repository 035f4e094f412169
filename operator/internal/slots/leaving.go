package slots

// The treatment of a Pod that gave its slot away.

import (
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// keepLeaving repeats the instruction with the role Leave for Pods that gave their slot away, if another client removed
// or broke the instruction.
func (s *state) keepLeaving() {
	for slot, holder := range s.holders {
		if holder == nil {
			continue
		}
		if before := s.predecessor(holder); before != nil && isUnread(before.Instruction) {
			i := s.leave(before)
			i.Slot = s.slotName(slot)
			s.instruct(before, i)
		}
	}
}

// leave returns the instruction of a Pod that gave its slot away.
func (s *state) leave(pod *Pod) instruction.Instruction {
	return instruction.Instruction{
		Slot: pod.Instruction.Slot, Role: instruction.Leave, Since: s.Now, End: int64(s.Drain.Seconds()),
		Record: instruction.Record{MovedAt: s.Now},
	}
}

// cost returns the deletion cost of a Pod. Of Pods that are equally ready, a ReplicaSet first deletes those without a
// slot because of these costs.
func (s *state) cost(pod *Pod) int32 {
	role := s.following(pod).Role
	switch {
	case pod.Terminating:
		return pod.Cost
	case s.holds(pod):
		return CostHolder
	case role == instruction.Leave:
		return CostLeave
	case s.following(pod).Record.Predecessor != "", role == instruction.None && (pod.Cost != 0 || s.isSurplus(pod)):
		return CostCandidate
	}
	return pod.Cost
}

// isSurplus reports whether no slot is left for a Pod.
func (s *state) isSurplus(pod *Pod) bool {
	for slot, holder := range s.holders {
		if s.successors[slot] == nil && (holder == nil || s.mustSucceed(pod, holder)) {
			return false
		}
	}
	return true
}

// gate reports whether the readiness gate of a Pod is to be open. When a slot has moved, the operator first lowers the
// deletion cost of the old Pod, then opens the gate of the new Pod, and then closes the gate of the old Pod. So the
// Service of the cache always has a Pod of the slot, and the ReplicaSet that is scaled down deletes exactly the old
// Pod.
func (s *state) gate(pod *Pod) bool {
	switch role := s.following(pod).Role; {
	case s.holds(pod):
		return pod.GateTrue || s.isDeletedFirst(s.predecessor(pod))
	case pod.Terminating || !pod.GateTrue:
		return pod.GateTrue
	case role == instruction.Leave:
		return !s.hasReadySuccessor(pod)
	default:
		return role != instruction.None
	}
}

// isDeletedFirst reports whether the Deployment would delete this predecessor before any holder.
func (s *state) isDeletedFirst(old *Pod) bool {
	if old == nil || old.Terminating {
		return true
	}
	return old.Cost <= CostLeave && (!old.Ready || !s.mustStopFirst(old))
}

// hasReadySuccessor reports whether a Pod that gave its slot away need not be ready any more.
func (s *state) hasReadySuccessor(old *Pod) bool {
	slot := s.slotOf(old.Instruction.Slot)
	if slot < 0 || slot >= s.Size || s.holders[slot] == nil || s.holders[slot].Ready {
		return true
	}
	return old.Cost <= CostLeave && s.mustStopFirst(old)
}

// mustStopFirst reports whether the old Pod must stop being ready before its successor is ready, because a deletion
// cost counts only within a ReplicaSet, and only among Pods that are equally ready:
//   - A ReplicaSet deletes a holder that is not ready before any ready Pod.
//   - With several old ReplicaSets, the Deployment scales down the oldest, unless another has a Pod that is not ready.
//
// In both cases the cache has another Pod, so its Service is not empty.
func (s *state) mustStopFirst(old *Pod) bool {
	for _, holder := range s.holders {
		if holder == nil || holder.Terminating || s.predecessor(holder) == old {
			continue
		}
		if sameSet := holder.Hash == old.Hash; sameSet && !holder.Ready || !sameSet && s.isOutdated(holder) {
			return true
		}
	}
	return false
}
