package slots

// What happens to a Pod that gave its slot away.

import (
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// leave is the instruction of a Pod that gave its slot away.
func (b *board) leave(pod *Pod) instruction.Instruction {
	return instruction.Instruction{
		Slot: pod.Instruction.Slot, Role: instruction.Leave, Since: b.Now, End: int64(b.Drain.Seconds()),
		Record: instruction.Record{MovedAt: b.Now},
	}
}

// cost returns the deletion cost of a Pod: of the Pods that are not ready, a ReplicaSet deletes those without a slot.
func (b *board) cost(pod *Pod) int32 {
	role := b.following(pod).Role
	switch {
	case pod.Terminating:
		return pod.Cost
	case b.holds(pod):
		return CostHolder
	case role == instruction.Leave:
		return CostLeave
	case b.following(pod).Record.Predecessor != "", role == instruction.None && (pod.Cost != 0 || b.isSurplus(pod)):
		return CostCandidate
	}
	return pod.Cost
}

// isSurplus reports whether no slot is left for a Pod.
func (b *board) isSurplus(pod *Pod) bool {
	for slot, holder := range b.holders {
		if b.successors[slot] == nil && (holder == nil || b.mustSucceed(pod, holder)) {
			return false
		}
	}
	return true
}

// gate returns the condition of the readiness gate. When a slot has moved, the order is: the deletion cost of the old
// Pod, the gate of the new one, then the gate of the old one. So the Service of the cache always has a Pod of the slot,
// and the ReplicaSet that is scaled down deletes exactly the old Pod.
func (b *board) gate(pod *Pod) bool {
	switch role := b.following(pod).Role; {
	case b.holds(pod):
		return pod.GateTrue || b.isDeletedFirst(b.predecessor(pod))
	case pod.Terminating || !pod.GateTrue:
		return pod.GateTrue
	case role == instruction.Leave:
		return !b.hasReadySuccessor(pod)
	default:
		return role != instruction.None
	}
}

// isDeletedFirst reports whether the Deployment would delete this predecessor before any holder.
func (b *board) isDeletedFirst(old *Pod) bool {
	if old == nil || old.Terminating {
		return true
	}
	return old.Cost <= CostLeave && (!old.Ready || !b.mustStopFirst(old))
}

// hasReadySuccessor reports whether a Pod that gave its slot away need not be ready any more.
func (b *board) hasReadySuccessor(old *Pod) bool {
	slot := b.slotOf(old.Instruction.Slot)
	if slot < 0 || slot >= b.Size || b.holders[slot] == nil || b.holders[slot].Ready {
		return true
	}
	return old.Cost <= CostLeave && b.mustStopFirst(old)
}

// mustStopFirst reports whether the old Pod must stop being ready before its successor is ready, because a deletion
// cost counts only within a ReplicaSet, and only among Pods that are all ready:
//   - A ReplicaSet deletes a holder that is not ready before any ready Pod.
//   - With several old ReplicaSets, the Deployment scales down the oldest, unless another has a Pod that is not ready.
//
// The cache has another Pod then, so its Service is not empty.
func (b *board) mustStopFirst(old *Pod) bool {
	for _, holder := range b.holders {
		if holder == nil || holder.Terminating || b.predecessor(holder) == old {
			continue
		}
		if sameSet := holder.Hash == old.Hash; sameSet && !holder.Ready || !sameSet && b.isOutdated(holder) {
			return true
		}
	}
	return false
}
