package slots

// Which Pod holds which slot, and what it is instructed to do.

import (
	"cmp"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// findHolders returns the Pod that holds each slot: the one in the slice, as long as it has not ended. A terminating
// Pod still holds its slot, because it serves while it drains.
func (b *board) findHolders() []*Pod {
	holders := make([]*Pod, b.Size)
	for slot := range holders {
		for _, endpoint := range b.Endpoints {
			if endpoint.Slot != slot {
				continue
			}
			pod := b.byUID[endpoint.UID]
			if pod != nil && pod.Instruction.Role == instruction.Leave {
				pod = b.heldInstead(slot)
			}
			if pod != nil && !b.holds(pod) {
				holders[slot], b.slot[pod] = pod, slot
			}
		}
	}
	return holders
}

// heldInstead returns the Pod that holds a slot although the slice names one with the role Leave. That role is given
// only after the slice was seen with the new holder, so this slice is older than the Pods, or was edited.
func (b *board) heldInstead(slot int) *Pod {
	for _, pod := range b.live {
		if pod.Instruction.Slot == b.slotName(slot) && b.hasHeld(pod) && pod.Instruction.Role != instruction.Leave {
			return pod
		}
	}
	return nil
}

// hasHeld reports whether a Pod held the slot of its instruction at some time.
func (b *board) hasHeld(pod *Pod) bool {
	i := pod.Instruction
	switch i.Role {
	case instruction.Serve, instruction.Cold:
		return pod.GateTrue || !i.Record.MovedAt.IsZero()
	default:
		return i.Role == instruction.Moved || i.Role == instruction.Leave
	}
}

// keepHolders lets every holder follow what happened: that it took the slot, that its predecessor ended, and that it
// lost what it had copied.
func (b *board) keepHolders() {
	for slot, holder := range b.holders {
		if holder == nil {
			continue
		}
		i := b.holding(holder, slot)
		if i.Role != instruction.None {
			i.Record = b.noteLoss(holder, i.Record)
		}
		b.tell(holder, i)
	}
}

func (b *board) holding(holder *Pod, slot int) instruction.Instruction {
	i := holder.Instruction
	if i.Slot != b.slotName(slot) || !serves(i.Role) {
		return b.lost(holder, slot)
	}
	before := b.byUID[i.Record.Predecessor]
	switch {
	case i.Role == instruction.Receive: // not Serve, which would end the copy and empty memcached
		i.Role = instruction.Moved
		if holder.AgentReady { // A copy that failed was repeated.
			i.Record.OldFailure = holder.Failure.At
		}
		i.Record.CopySeconds = max(int64(b.Now.Sub(i.Since).Seconds()), 0) // Clocks may differ.
		i.Record.State, i.Record.StateSince, i.Record.MovedAt = instruction.StateServing, b.Now, b.Now
	case i.Role == instruction.Cold && holder.AgentReady && b.isSettled(holder):
		i.Role, i.Since = instruction.Serve, b.Now
		i.Record.MovedAt = b.Now
	case i.Role == instruction.Moved && b.predecessor(holder) == nil:
		i.Role, i.Since, i.From, i.Rate, i.Within = instruction.Serve, b.Now, "", 0, 0
		i.Record.Predecessor = ""
	case before != nil && before.Instruction.Slot != i.Slot: // It was called back.
		i.Record.Predecessor = ""
	case i.Record.Predecessor != "" && i.Record.MovedAt.IsZero():
		i.Record.MovedAt = b.Now
	}
	return i
}

// noteLoss notes that a holder lost what it had copied, because its predecessor did not end in order. The agent says so
// by how its container ends, once it serves alone.
func (b *board) noteLoss(holder *Pod, record instruction.Record) instruction.Record {
	if record.State != instruction.StateServing || !holder.failedSince(record.OldFailure) {
		return record
	}
	record.State, record.StateSince, record.CopySeconds = instruction.StateCold, b.Now, 0
	record.Reason = cmp.Or(holder.Failure.Reason, ReasonFailed)
	return record
}

// failedSince reports whether the agent of a Pod failed after its last failure at that time.
func (p *Pod) failedSince(old time.Time) bool {
	return p.Failure.At.UTC().Truncate(time.Second).After(old)
}

// serves reports whether a Pod with a role may hold a slot.
func serves(role instruction.Role) bool {
	switch role {
	case instruction.Serve, instruction.Cold, instruction.Receive, instruction.Moved:
		return true
	default:
		return false
	}
}

// lost returns the instruction of a holder that has none for its slot, because the annotation or the slice was edited.
// A Pod that clients may use has served its slot until now, and keeps the keys, unless another Pod that held the slot
// has not ended: then clients may have changed keys there. Of others nothing is known about their keys.
func (b *board) lost(holder *Pod, slot int) instruction.Instruction {
	i := holder.Instruction
	isUnread := i == instruction.Instruction{} || i.Role == Unknown
	switch {
	case isUnread && holder.GateTrue && !b.wasHeldBesides(holder, slot):
		i = b.start(holder, slot, "")
		i.Role = instruction.Serve
		return i
	case i.Role != instruction.None:
		return b.idle()
	case holder.AgentReady || !b.isSettled(holder):
		return i
	}
	return b.start(holder, slot, ReasonInstructionLost)
}

// wasHeldBesides reports whether another Pod that has not ended held a slot.
func (b *board) wasHeldBesides(holder *Pod, slot int) bool {
	return slices.ContainsFunc(b.live, func(pod *Pod) bool {
		return pod != holder && pod.Instruction.Slot == b.slotName(slot) && b.hasHeld(pod)
	})
}

// predecessor returns the Pod that gave its slot to this one and has not ended, or nil.
func (b *board) predecessor(holder *Pod) *Pod {
	before := b.byUID[holder.Instruction.Record.Predecessor]
	if before == nil || before == holder || before.Instruction.Slot != holder.Instruction.Slot {
		return nil
	}
	return before
}
