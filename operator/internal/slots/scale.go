package slots

import (
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// replicas returns the desired replicas of the Deployment. It is scaled down only when the Pods that gave their slot
// away are the first that the ReplicaSet deletes.
func (b *board) replicas() int {
	if b.Deployed > b.Size && !b.canScaleDown() {
		return b.Deployed
	}
	return b.Size
}

// canScaleDown reports whether every Pod without a slot is deleted before those with one.
func (b *board) canScaleDown() bool {
	for _, endpoint := range b.Endpoints {
		if endpoint.Slot >= b.Size {
			return false
		}
	}
	for _, pod := range b.live {
		if b.holds(pod) || pod.Terminating {
			continue
		}
		if pod.Ready || pod.GateTrue || pod.Instruction.Role == instruction.Leave && pod.Cost > CostLeave {
			return false
		}
	}
	return true
}
