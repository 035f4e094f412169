package slots

// The choice of the Pod that takes a slot next, and how it takes it.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// keepSuccessors finds the Pods whose instruction is to take a slot, and makes the other Pods without a slot lose their
// role. A Pod remains the successor until it has the slot, as long as there is a reason for the move.
func (s *state) keepSuccessors() {
	waiting := s.waiting()
	for _, pod := range s.live {
		slot := s.slotOf(pod.Instruction.Slot)
		if waiting > 0 && s.givesWay(pod, slot) {
			waiting--
			continue
		}
		if s.canSucceed(pod, slot) && (s.successors[slot] == nil || nearer(pod, s.successors[slot])) {
			s.successors[slot] = pod
		}
	}
	for _, pod := range s.live {
		switch role := pod.Instruction.Role; {
		case s.holds(pod), role == instruction.None, role == instruction.Leave:
		case s.isSuccessor(pod):
			s.succeed(pod)
		case s.joins(pod): // See grow.
		case s.hasHeld(pod):
			s.instruct(pod, s.removed(pod))
		case !pod.Terminating:
			s.instruct(pod, s.idle())
		}
	}
}

// canSucceed reports whether a Pod is about to take this slot: the slot is free, or the Pod's predecessor holds it. A
// terminating Pod takes only a slot that it held before, because it has the keys. This happens, for example, after the
// EndpointSlice was deleted.
func (s *state) canSucceed(pod *Pod, slot int) bool {
	if slot < 0 || slot >= s.Size || s.holds(pod) || !serves(pod.Instruction.Role) {
		return false
	}
	holder := s.holders[slot]
	if holder == nil {
		return !pod.Terminating || s.hasHeld(pod)
	}
	return !pod.Terminating && holder.UID == pod.Instruction.Record.Predecessor &&
		(s.hasHeld(pod) || s.mustSucceed(pod, holder))
}

// waiting returns how many Pods of the current template could take a slot now.
func (s *state) waiting() int {
	waiting := 0
	for _, pod := range s.candidates() {
		if s.isCurrent(pod) {
			waiting++
		}
	}
	return waiting
}

// givesWay reports whether an outdated Pod leaves a free slot to a Pod of the current template, because the outdated
// Pod's agent is not ready. If the outdated Pod took the slot and never became ready, the Deployment would wait for the
// current Pod, and the current Pod for the slot.
func (s *state) givesWay(pod *Pod, slot int) bool {
	return s.isOutdated(pod) && s.canSucceed(pod, slot) && s.holders[slot] == nil && !pod.AgentReady && !s.hasHeld(pod)
}

// nearer reports whether the first, and not the second, of two successors of one slot takes the slot. A slot can have
// two successors, because two operators may have chosen one each.
func nearer(x, y *Pod) bool {
	if x.AgentReady != y.AgentReady {
		return x.AgentReady
	}
	order := x.Instruction.Since.Compare(y.Instruction.Since)
	return order < 0 || order == 0 && strings.Compare(x.UID, y.UID) < 0
}

// mustSucceed reports whether a Pod still has a reason to take the slot of a holder.
func (s *state) mustSucceed(pod, holder *Pod) bool {
	switch {
	case holder.Terminating:
		return true
	case s.isOutdated(holder) && s.isCurrent(pod):
		return true
	}
	// The direction of the rollout is unknown now. It was known when the two Pods were paired.
	return s.Hash == "" && holder.Hash != pod.Hash
}

// succeed ends a copy that can't succeed. The Pod then takes the slot without keys. If the source of a copy begins to
// terminate, the instruction gets the time that the copy may take.
func (s *state) succeed(pod *Pod) {
	i := pod.Instruction
	if i.Role != instruction.Receive || pod.AgentReady { // It copies no more, or all is copied.
		return
	}
	holder := s.holders[s.slotOf(i.Slot)]
	switch {
	case holder == nil, holder.IP != i.From:
		s.instruct(pod, s.coldInstead(pod, ReasonPodLost))
	case !s.Handoff:
		s.instruct(pod, s.coldInstead(pod, ReasonNever))
	case pod.failedSince(i.Record.OldFailure):
		s.instruct(pod, s.coldInstead(pod, cmp.Or(pod.Failure.Reason, ReasonFailed)))
	case !s.Now.Before(s.copyEnds(pod)):
		s.instruct(pod, s.coldInstead(pod, ReasonTimedOut))
	case holder.Terminating && i.Within == 0:
		i.Within = s.within(holder)
		s.instruct(pod, i)
	}
}

func (s *state) coldInstead(pod *Pod, reason string) instruction.Instruction {
	i := pod.Instruction
	return instruction.Instruction{
		Slot: i.Slot, Role: instruction.Cold, Since: s.Now,
		Record: instruction.Record{
			State: instruction.StateCold, StateSince: s.Now, Reason: reason, Predecessor: i.Record.Predecessor,
		},
	}
}

// findSuccessors gives candidates a slot: first the free slots, then those whose holder must be replaced.
func (s *state) findSuccessors() {
	candidates := s.candidates()
	for slot, holder := range s.holders {
		if holder == nil && s.successors[slot] == nil && len(candidates) > 0 {
			s.successors[slot] = candidates[0]
			s.instruct(candidates[0], s.start(candidates[0], slot, s.whyFree(slot)))
			candidates = candidates[1:]
		}
	}
	for _, holder := range s.toReplace() {
		index := slices.IndexFunc(candidates, func(pod *Pod) bool { return s.mustSucceed(pod, holder) && s.hasRoom(pod) })
		if index < 0 {
			continue
		}
		s.successors[s.slot[holder]] = candidates[index]
		s.instruct(candidates[index], s.replacing(candidates[index], holder))
		candidates = slices.Delete(candidates, index, index+1)
	}
}

// whyFree returns the reason why a slot lost its holder; empty if the slot never had one.
func (s *state) whyFree(slot int) string {
	if slices.ContainsFunc(s.Endpoints, func(e Endpoint) bool { return e.Slot == slot }) {
		return ReasonPodLost
	}
	return ""
}

// start returns the instruction with which a Pod takes a slot without keys. A Pod that had an instruction before may
// have old keys: its role is Cold, which empties memcached.
func (s *state) start(pod *Pod, slot int, reason string) instruction.Instruction {
	i := instruction.Instruction{Slot: s.slotName(slot), Role: instruction.Serve, Since: s.Now}
	if pod.Instruction != (instruction.Instruction{}) || pod.GateTrue {
		i.Role = instruction.Cold
	}
	i.Record = instruction.Record{
		State: instruction.StateServing, StateSince: s.Now, Reason: reason, OldFailure: pod.Failure.At,
	}
	if reason != "" {
		i.Record.State = instruction.StateCold
	}
	return i
}

// replacing returns the instruction with which a Pod takes the slot of a holder, with the keys of the holder or without
// them.
func (s *state) replacing(pod, holder *Pod) instruction.Instruction {
	slot, why := s.slot[holder], ""
	switch {
	case !s.Handoff:
		why = ReasonNever
	case holder.Terminating && !holder.MemcachedReady:
		why = ReasonPodLost // It has ended, or its Node does not answer.
	}
	if why != "" {
		i := s.start(pod, slot, why)
		i.Record.Predecessor = holder.UID
		return i
	}
	return instruction.Instruction{
		Slot: s.slotName(slot), Role: instruction.Receive, From: holder.IP, Rate: s.Rate,
		Within: s.within(holder), Since: s.Now,
		Record: instruction.Record{
			State: instruction.StateCopying, StateSince: s.Now,
			Predecessor: holder.UID, OldFailure: pod.Failure.At,
		},
	}
}
