package slots

// Finds the Pod that holds each slot, and the instruction for it.

import (
	"cmp"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// findHolders returns the Pod that holds each slot: the Pod in the EndpointSlice, as long as it has not ended. A
// terminating Pod still holds its slot, because it serves while it drains.
func (s *state) findHolders() []*Pod {
	holders := make([]*Pod, s.Size)
	for slot := range holders {
		for _, endpoint := range s.Endpoints {
			if endpoint.Slot != slot {
				continue
			}
			pod := s.byUID[endpoint.UID]
			if pod != nil && pod.Instruction.Role == instruction.Leave {
				pod = s.heldInstead(slot)
			}
			if pod != nil && !s.holds(pod) {
				holders[slot], s.slot[pod] = pod, slot
			}
		}
	}
	return holders
}

// heldInstead returns the Pod that holds a slot although the EndpointSlice names a Pod with the role Leave. A Pod gets
// that role only after the operator saw the new holder in the slice. So this slice is older than the Pods, or was
// edited.
func (s *state) heldInstead(slot int) *Pod {
	for _, pod := range s.live {
		if pod.Instruction.Slot == s.slotName(slot) && s.hasHeld(pod) && pod.Instruction.Role != instruction.Leave {
			return pod
		}
	}
	return nil
}

// hasHeld reports whether a Pod held the slot of its instruction at some time.
func (s *state) hasHeld(pod *Pod) bool {
	i := pod.Instruction
	switch i.Role {
	case instruction.Serve, instruction.Cold:
		return pod.GateTrue || !i.Record.MovedAt.IsZero()
	default:
		return i.Role == instruction.Moved || i.Role == instruction.Send || i.Role == instruction.Leave
	}
}

// keepHolders updates the instruction of every holder: after the holder took its slot, after its predecessor ended, and
// after the holder lost the keys that it had copied.
func (s *state) keepHolders() {
	for slot, holder := range s.holders {
		if holder == nil {
			continue
		}
		i := s.holding(holder, slot)
		if i.Role != instruction.None {
			i.Record = s.noteLoss(holder, i.Record)
		}
		s.instruct(holder, i)
	}
}

func (s *state) holding(holder *Pod, slot int) instruction.Instruction {
	i := holder.Instruction
	if i.Slot != s.slotName(slot) || !serves(i.Role) {
		return s.lost(holder, slot)
	}
	before := s.byUID[i.Record.Predecessor]
	switch {
	case i.Role == instruction.Receive: // not Serve, which would end the copy and empty memcached
		i.Role = instruction.Moved
		if holder.AgentReady { // A copy that failed was repeated.
			i.Record.OldFailure = holder.Failure.At
		}
		i.Record.CopySeconds = max(int64(s.Now.Sub(i.Since).Seconds()), 0) // Clocks may differ.
		i.Record.State, i.Record.StateSince, i.Record.MovedAt = instruction.StateServing, s.Now, s.Now
	case i.Role == instruction.Cold && holder.AgentReady && s.isSettled(holder):
		i.Role, i.Since = instruction.Serve, s.Now
		i.Record.MovedAt = s.Now
	case i.Role == instruction.Moved && s.predecessor(holder) == nil && !s.overlaps(holder),
		i.Role == instruction.Send && !s.sends(holder, slot):
		i.Role, i.Since, i.From, i.Rate, i.Within = instruction.Serve, s.Now, "", 0, 0
		i.Scale, i.Record.Predecessor = instruction.Scale{}, ""
	case before != nil && s.predecessor(holder) == nil: // The predecessor was called back.
		i.Record.Predecessor = ""
	case i.Record.Predecessor != "" && i.Record.MovedAt.IsZero():
		i.Record.MovedAt = s.Now
	}
	return i
}

// noteLoss records that a holder lost the keys that it had copied, because its predecessor did not end in order. The
// holder's agent reports this by ending its container with instruction.ExitCode, once the holder serves alone.
func (s *state) noteLoss(holder *Pod, record instruction.Record) instruction.Record {
	if record.State != instruction.StateServing || !holder.failedSince(record.OldFailure) {
		return record
	}
	record.State, record.StateSince, record.CopySeconds = instruction.StateCold, s.Now, 0
	record.Reason = cmp.Or(holder.Failure.Reason, ReasonFailed)
	return record
}

// failedSince reports whether the agent of a Pod failed again after an earlier failure, at the time old.
func (p *Pod) failedSince(old time.Time) bool {
	return p.Failure.At.UTC().Truncate(time.Second).After(old)
}

// serves reports whether a Pod with a role may hold a slot.
func serves(role instruction.Role) bool {
	switch role {
	case instruction.Serve, instruction.Cold, instruction.Receive, instruction.Moved, instruction.Send:
		return true
	default:
		return false
	}
}

// lost returns an instruction for a holder that has none for its slot, because the annotation or the slice was edited.
// A Pod that clients may use has served its slot until now, and keeps its keys. It does not keep them if another Pod
// that held the slot has not ended: clients may have changed keys there. Other Pods start without keys, because nothing
// is known about the keys that they have.
func (s *state) lost(holder *Pod, slot int) instruction.Instruction {
	i := holder.Instruction
	switch {
	case isUnread(i) && holder.GateTrue && !s.wasHeldBesides(holder, slot):
		i = s.start(holder, slot, "")
		i.Role = instruction.Serve
		return i
	case i.Role != instruction.None:
		return s.idle()
	case holder.AgentReady || !s.isSettled(holder):
		return i
	}
	return s.start(holder, slot, ReasonInstructionLost)
}

// isUnread reports whether a Pod has no readable instruction: another client removed or broke the annotation, or the
// Pod is new. An instruction without a role, as idle returns it, is readable: it has a time.
func isUnread(i instruction.Instruction) bool {
	return i == instruction.Instruction{} || i.Role == Unknown
}

// wasHeldBesides reports whether another Pod than this holder held this slot, and has not ended. The instruction of
// that Pod shows that it held the slot. If that instruction was edited as well, any older Pod without a slot may have
// held it.
func (s *state) wasHeldBesides(holder *Pod, slot int) bool {
	return slices.ContainsFunc(s.live, func(pod *Pod) bool {
		if isUnread(pod.Instruction) {
			return !s.holds(pod) && pod.Created.Before(holder.Created)
		}
		return pod != holder && pod.Instruction.Slot == s.slotName(slot) && s.hasHeld(pod)
	})
}

// predecessor returns the Pod that gave its slot to this holder and has not ended, or nil. That Pod remains the
// predecessor even if another client edited its instruction, because clients of the cache still use it.
func (s *state) predecessor(holder *Pod) *Pod {
	before := s.byUID[holder.Instruction.Record.Predecessor]
	if before == nil || before == holder {
		return nil
	}
	isLost := isUnread(before.Instruction) && !s.holds(before)
	if before.Instruction.Slot != holder.Instruction.Slot && !isLost {
		return nil
	}
	return before
}
