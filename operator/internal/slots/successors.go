package slots

// Which Pod takes a slot next, and how.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// keepSuccessors finds the Pods that are about to take a slot, because their instruction says so, and sends the others
// away. A successor stays the same until it has the slot, as long as there is a reason for it.
func (b *board) keepSuccessors() {
	waiting := b.waiting()
	for _, pod := range b.live {
		slot := b.slotOf(pod.Instruction.Slot)
		if waiting > 0 && b.givesWay(pod, slot) {
			waiting--
			continue
		}
		if b.canSucceed(pod, slot) && (b.successors[slot] == nil || nearer(pod, b.successors[slot])) {
			b.successors[slot] = pod
		}
	}
	for _, pod := range b.live {
		switch role := pod.Instruction.Role; {
		case b.holds(pod), role == instruction.None, role == instruction.Leave:
		case b.isSuccessor(pod):
			b.succeed(pod)
		case b.hasHeld(pod):
			b.tell(pod, b.leave(pod))
		case !pod.Terminating:
			b.tell(pod, b.idle())
		}
	}
}

// canSucceed reports whether a Pod is about to take this slot: it is free, or held by the Pod's predecessor. A Pod that
// terminates takes only a slot that it held before, such as after the EndpointSlice was deleted: it has the keys.
func (b *board) canSucceed(pod *Pod, slot int) bool {
	if slot < 0 || slot >= b.Size || b.holds(pod) || !serves(pod.Instruction.Role) {
		return false
	}
	holder := b.holders[slot]
	if holder == nil {
		return !pod.Terminating || b.hasHeld(pod)
	}
	return !pod.Terminating && holder.UID == pod.Instruction.Record.Predecessor &&
		(b.hasHeld(pod) || b.mustSucceed(pod, holder))
}

// waiting returns how many Pods of the current template could take a slot now.
func (b *board) waiting() int {
	waiting := 0
	for _, pod := range b.candidates() {
		if b.isCurrent(pod) {
			waiting++
		}
	}
	return waiting
}

// givesWay reports whether an outdated Pod leaves a free slot to one of the current template, because its agent is not
// ready for it. It may never be: then the Deployment would wait for the other one, and that for the slot.
func (b *board) givesWay(pod *Pod, slot int) bool {
	return b.isOutdated(pod) && b.canSucceed(pod, slot) && b.holders[slot] == nil && !pod.AgentReady && !b.hasHeld(pod)
}

// nearer orders two successors of one slot, which two operators may have chosen.
func nearer(x, y *Pod) bool {
	if x.AgentReady != y.AgentReady {
		return x.AgentReady
	}
	order := x.Instruction.Since.Compare(y.Instruction.Since)
	return order < 0 || order == 0 && strings.Compare(x.UID, y.UID) < 0
}

// mustSucceed reports whether a Pod still has a reason to take the slot of a holder.
func (b *board) mustSucceed(pod, holder *Pod) bool {
	switch {
	case holder.Terminating:
		return true
	case b.isOutdated(holder) && b.isCurrent(pod):
		return true
	}
	// The direction is not known now; it was when they were paired.
	return b.Hash == "" && holder.Hash != pod.Hash
}

// succeed ends a copy that can't succeed. The Pod then takes the slot without keys. A copy whose source begins to
// terminate gets to know how long it may take.
func (b *board) succeed(pod *Pod) {
	i := pod.Instruction
	if i.Role != instruction.Receive || pod.AgentReady { // It copies no more, or all is copied.
		return
	}
	holder := b.holders[b.slotOf(i.Slot)]
	switch {
	case holder == nil, holder.IP != i.From:
		b.tell(pod, b.coldInstead(pod, ReasonPodLost))
	case !b.Handoff:
		b.tell(pod, b.coldInstead(pod, ReasonNever))
	case pod.failedSince(i.Record.OldFailure):
		b.tell(pod, b.coldInstead(pod, cmp.Or(pod.Failure.Reason, ReasonFailed)))
	case !b.Now.Before(b.copyEnds(pod)):
		b.tell(pod, b.coldInstead(pod, ReasonTimedOut))
	case holder.Terminating && i.Within == 0:
		i.Within = b.within(holder)
		b.tell(pod, i)
	}
}

func (b *board) coldInstead(pod *Pod, reason string) instruction.Instruction {
	i := pod.Instruction
	return instruction.Instruction{
		Slot: i.Slot, Role: instruction.Cold, Since: b.Now,
		Record: instruction.Record{
			State: instruction.StateCold, StateSince: b.Now, Reason: reason, Predecessor: i.Record.Predecessor,
		},
	}
}

// findSuccessors gives candidates a slot: first the free slots, then those whose holder must be replaced.
func (b *board) findSuccessors() {
	candidates := b.candidates()
	for slot, holder := range b.holders {
		if holder == nil && b.successors[slot] == nil && len(candidates) > 0 {
			b.successors[slot] = candidates[0]
			b.tell(candidates[0], b.start(candidates[0], slot, b.whyFree(slot)))
			candidates = candidates[1:]
		}
	}
	for _, holder := range b.toReplace() {
		index := slices.IndexFunc(candidates, func(pod *Pod) bool { return b.mustSucceed(pod, holder) })
		if index < 0 {
			continue
		}
		b.successors[b.slot[holder]] = candidates[index]
		b.tell(candidates[index], b.replacing(candidates[index], holder))
		candidates = slices.Delete(candidates, index, index+1)
	}
}

// whyFree returns why a slot that had a holder has none; empty if it never had one.
func (b *board) whyFree(slot int) string {
	if slices.ContainsFunc(b.Endpoints, func(e Endpoint) bool { return e.Slot == slot }) {
		return ReasonPodLost
	}
	return ""
}

// start gives a Pod a slot without keys. A Pod that had an instruction before may have old keys.
func (b *board) start(pod *Pod, slot int, reason string) instruction.Instruction {
	i := instruction.Instruction{Slot: b.slotName(slot), Role: instruction.Serve, Since: b.Now}
	if pod.Instruction != (instruction.Instruction{}) || pod.GateTrue {
		i.Role = instruction.Cold
	}
	i.Record = instruction.Record{
		State: instruction.StateServing, StateSince: b.Now, Reason: reason, OldFailure: pod.Failure.At,
	}
	if reason != "" {
		i.Record.State = instruction.StateCold
	}
	return i
}

// replacing gives a Pod the slot of a holder: with its keys, or without them.
func (b *board) replacing(pod, holder *Pod) instruction.Instruction {
	slot, why := b.slot[holder], ""
	switch {
	case !b.Handoff:
		why = ReasonNever
	case holder.Terminating && !holder.MemcachedReady:
		why = ReasonPodLost // It has ended, or its Node does not answer.
	}
	if why != "" {
		i := b.start(pod, slot, why)
		i.Record.Predecessor = holder.UID
		return i
	}
	return instruction.Instruction{
		Slot: b.slotName(slot), Role: instruction.Receive, From: holder.IP, Rate: b.Rate,
		Within: b.within(holder), Since: b.Now,
		Record: instruction.Record{
			State: instruction.StateCopying, StateSince: b.Now,
			Predecessor: holder.UID, OldFailure: pod.Failure.At,
		},
	}
}
