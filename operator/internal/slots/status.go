package slots

import (
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// statuses returns what the status reports for each slot, as observed.
func (b *board) statuses() []Status {
	var statuses []Status
	for slot, holder := range b.holders {
		status := Status{Name: b.slotName(slot), State: instruction.StateCold, Reason: ReasonNoPod}
		if holder != nil {
			status = b.statusOf(holder, slot)
		}
		status.Address = b.Addresses[status.Name]
		statuses = append(statuses, status)
	}
	return statuses
}

func (b *board) statusOf(holder *Pod, slot int) Status {
	status := Status{Name: b.slotName(slot), Pod: holder.Name, Ends: holder.Ends}
	if copying := b.copying(slot); copying != nil {
		i := b.following(copying)
		status.State, status.Since = instruction.StateCopying, i.Since
		return status
	}
	record := b.following(holder).Record
	status.State, status.Since, status.Reason = record.State, record.StateSince, record.Reason
	status.Took = time.Duration(record.CopySeconds) * time.Second
	if status.State == "" {
		status.State = instruction.StateServing
	}
	return status
}

// copying returns the successor that copies the keys of a slot, or nil.
func (b *board) copying(slot int) *Pod {
	successor := b.successors[slot]
	if successor == nil || b.holders[slot] == nil || b.following(successor).Role != instruction.Receive {
		return nil
	}
	return successor
}

// progress returns what is in progress, such as: 3 of 5 slots to be handed over, 1 being copied. It changes only with
// the state of a slot.
func (b *board) progress() string {
	if !b.Handoff || b.Suspended {
		return ""
	}
	left, total, copying := b.left()
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d slots to be handed over, %d being copied", left, total, copying)
}

// left returns how many slots are still to be handed over, of how many in all, and how many of them are being copied.
// There is no record of the Pods that terminated before.
func (b *board) left() (left, total, copying int) {
	for slot, holder := range b.holders {
		isCopied := b.copying(slot) != nil
		if isCopied {
			copying++
		}
		switch {
		case holder == nil:
		case b.isOutdated(holder):
			left++
			total = b.Size
		case isCopied, holder.Terminating:
			left++
		}
	}
	return left, max(left, total), copying
}
