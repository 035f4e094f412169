package slots

import (
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// statuses returns what the status reports for each slot, as observed.
func (s *state) statuses() []Status {
	var statuses []Status
	for slot, holder := range s.holders {
		status := Status{Name: s.slotName(slot), State: instruction.StateCold, Reason: ReasonNoPod}
		if holder != nil {
			status = s.statusOf(holder, slot)
		}
		status.Address = s.Addresses[status.Name]
		statuses = append(statuses, status)
	}
	return statuses
}

func (s *state) statusOf(holder *Pod, slot int) Status {
	status := Status{Name: s.slotName(slot), Pod: holder.Name, Ends: holder.Ends}
	if copying := s.copying(slot); copying != nil {
		i := s.following(copying)
		status.State, status.Since = instruction.StateCopying, i.Since
		return status
	}
	record := s.following(holder).Record
	status.State, status.Since, status.Reason = record.State, record.StateSince, record.Reason
	status.Took = time.Duration(record.CopySeconds) * time.Second
	if status.State == "" {
		status.State = instruction.StateServing
	}
	return status
}

// copying returns the successor that copies the keys of a slot, or nil.
func (s *state) copying(slot int) *Pod {
	successor := s.successors[slot]
	if successor == nil || s.holders[slot] == nil || s.following(successor).Role != instruction.Receive {
		return nil
	}
	return successor
}

// progress returns what is in progress, such as: 3 of 5 slots to be handed over, 1 being copied. It changes only with
// the state of a slot.
func (s *state) progress() string {
	if !s.Handoff || s.Suspended {
		return ""
	}
	left, total, copying := s.left()
	if left == 0 {
		return s.scalingProgress()
	}
	return fmt.Sprintf("%d of %d slots are still to be handed over, %d being copied", left, total, copying)
}

// left returns how many slots are still to be handed over, of how many slots in total, and how many of the slots to be
// handed over are being copied. Pods that terminated before do not count: there is no record of them.
func (s *state) left() (left, total, copying int) {
	for slot, holder := range s.holders {
		isCopied := s.copying(slot) != nil
		if isCopied {
			copying++
		}
		switch {
		case holder == nil:
		case s.isOutdated(holder):
			left++
			total = s.Size
		case isCopied, holder.Terminating:
			left++
		}
	}
	return left, max(left, total), copying
}
