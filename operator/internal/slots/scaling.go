package slots

// Changes the number of slots without loss of keys: one slot at a time, after the keys that clients will look for in
// another Pod are copied to that Pod. The Pod of the slot that is added or removed copies the keys, so that the log of
// each memcached is watched only once.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// Scaling says how keys are kept when the number of slots changes.
type Scaling struct {
	// Hash and Names are the fields of instruction.Scale with these names.
	Hash, Names string

	// Overlap is how long clients with the former list are expected. In this time, a key that changes in one Pod is
	// removed from the other.
	Overlap time.Duration
}

// scales reports whether clients' list of slots changes by one slot at a time.
func (in Input) scales() bool { return in.Scaling != nil && in.Handoff && in.Listed > 0 && in.Size > 0 }

// listedFor returns the length of clients' list. A recorded length that does not fit the slots with a Pod was edited.
// Then listedFor counts the slots up to the last one with a Pod.
func (in Input) listedFor(size int) int {
	last := 0
	for _, endpoint := range in.Endpoints {
		last = max(last, endpoint.Slot+1)
	}
	if in.Listed < last || in.Listed > max(last, size) {
		return last
	}
	return in.Listed
}

// scale adds or removes a slot.
func (s *state) scale() {
	switch {
	case s.target > s.Size:
		s.grow()
	case s.target < s.Size:
		s.shrink()
	}
}

// joins reports whether a Pod is about to take the slot after the last one.
func (s *state) joins(pod *Pod) bool {
	role := pod.Instruction.Role
	return s.target > s.Size && pod.Instruction.Slot == s.slotName(s.Size) && !s.holds(pod) && !pod.Terminating &&
		(role == instruction.Receive && pod.Instruction.Scale != instruction.Scale{} || role == instruction.Cold)
}

// grow makes a new Pod copy the keys that clients will look for in it.
func (s *state) grow() {
	for _, pod := range s.live {
		if s.joins(pod) && (s.joining == nil || nearer(pod, s.joining)) {
			s.joining = pod
		}
	}
	for _, pod := range s.live {
		if s.joins(pod) && pod != s.joining {
			s.instruct(pod, s.idle())
		}
	}
	switch {
	case s.joining != nil:
		s.keepJoining(s.joining)
	case s.isCalm() && !s.isStillUsed(s.Size):
		s.join()
	}
}

// isStillUsed reports whether a Pod that gave this slot away has not ended yet. Clients may still use it by the slot's
// name, and a key that they change in another Pod of that name would not be removed from the former Pod.
func (s *state) isStillUsed(slot int) bool {
	return slices.ContainsFunc(s.live, func(pod *Pod) bool { return s.gaveAway(pod, slot) })
}

func (s *state) gaveAway(pod *Pod, slot int) bool {
	return pod.Instruction.Role == instruction.Leave && pod.Instruction.Slot == s.slotName(slot)
}

func (s *state) join() {
	for _, pod := range s.candidates() {
		if _, isInstructed := s.next[pod]; isInstructed || !s.isCurrent(pod) || !s.hasRoom(pod) {
			continue
		}
		s.joining = pod
		s.instruct(pod, instruction.Instruction{
			Slot: s.slotName(s.Size), Role: instruction.Receive, Rate: s.Rate, Since: s.Now, Scale: s.step(s.Size + 1),
			Record: instruction.Record{State: instruction.StateCopying, StateSince: s.Now, OldFailure: pod.Failure.At},
		})
		return
	}
}

// keepJoining ends a copy that can't succeed, or that must begin again because the Pods have changed.
func (s *state) keepJoining(pod *Pod) {
	i := pod.Instruction
	switch {
	case i.Role == instruction.Cold:
	case !s.isCalm() || i.Scale != s.step(s.Size+1):
		s.instruct(pod, s.idle())
		s.joining = nil
	case pod.AgentReady:
	case pod.failedSince(i.Record.OldFailure):
		s.instruct(pod, s.coldInstead(pod, cmp.Or(pod.Failure.Reason, ReasonFailed)))
	case !s.Now.Before(s.copyEnds(pod)):
		s.instruct(pod, s.coldInstead(pod, ReasonTimedOut))
	}
}

// shrink makes the Pod of the last slot copy its keys to the others.
func (s *state) shrink() {
	last := s.holders[s.Size-1]
	if last == nil { // Another Pod takes the slot, and removes the keys that its predecessor may have copied.
		return
	}
	i := last.Instruction
	switch {
	case i.Role == instruction.Serve && last.AgentReady && s.isCalm():
		i.Role, i.Since, i.Rate, i.Scale = instruction.Send, s.Now, s.Rate, s.step(s.Size-1)
		i.Record.Began, i.Record.OldFailure = time.Time{}, last.Failure.At
		s.instruct(last, i)
	case i.Role != instruction.Send || s.following(last).Role != instruction.Send:
	case last.failedSince(i.Record.OldFailure), !s.Now.Before(s.copyEnds(last)):
		s.leaving = last
	case i.Record.Began.IsZero() && !last.AgentReady && s.isSettled(last):
		i.Record.Began = s.Now
		s.instruct(last, i)
	case !i.Record.Began.IsZero() && last.AgentReady:
		s.leaving = last
	}
}

// sends reports whether the Pod of a slot still has a reason to copy its keys to the others.
func (s *state) sends(pod *Pod, slot int) bool {
	return s.target < s.Size && slot == s.Size-1 && s.isCalm() && pod.Instruction.Scale == s.step(s.Size-1)
}

// isCalm reports whether nothing else happens: each slot has a Pod that serves it, that need not be replaced, and whose
// predecessor has ended.
func (s *state) isCalm() bool {
	return s.Hash != "" && !slices.ContainsFunc(s.holders, func(holder *Pod) bool {
		return holder == nil || holder.Terminating || !holder.MemcachedReady || holder.IP == "" || s.isOutdated(holder) ||
			holder.Instruction.Role != instruction.Serve && holder.Instruction.Role != instruction.Send
	})
}

// step returns the change of clients' list to the length after: one slot more or less.
func (s *state) step(after int) instruction.Scale {
	var servers []string
	for _, holder := range s.holders[:min(s.Size, after)] {
		servers = append(servers, holder.IP)
	}
	return instruction.Scale{
		Hash: s.Scaling.Hash, Names: s.Scaling.Names, Before: s.Size, After: after, Servers: strings.Join(servers, " "),
	}
}

// overlaps reports whether clients with the former list are still expected. As soon as the Pod of a slot terminates,
// overlaps returns false, because the keys of that Pod have to be copied.
func (s *state) overlaps(pod *Pod) bool {
	return pod.Instruction.Scale != instruction.Scale{} && s.scales() && s.Now.Before(s.overlapEnds(pod)) &&
		!slices.ContainsFunc(s.holders, func(holder *Pod) bool { return holder != nil && holder.Terminating })
}

func (s *state) overlapEnds(pod *Pod) time.Time {
	i := pod.Instruction
	if i.Role == instruction.Send || i.Record.MovedAt.IsZero() { // With Send, MovedAt is when the Pod took its slot.
		return s.Now.Add(s.Scaling.Overlap)
	}
	return i.Record.MovedAt.Add(s.Scaling.Overlap)
}

// removed returns the instruction of a Pod whose slot was removed. A Pod that copied its keys to the others stays
// consistent with them, with the role Moved, until the overlap ends.
func (s *state) removed(pod *Pod) instruction.Instruction {
	i := pod.Instruction
	switch {
	case i.Role == instruction.Send && pod.AgentReady && s.overlaps(pod):
		i.Role, i.Record.MovedAt = instruction.Moved, s.Now
		return i
	case i.Role == instruction.Moved && s.overlaps(pod):
		return i
	}
	return s.leave(pod)
}

// listed returns how many slots clients' list has after this decision.
func (s *state) listed() int {
	switch {
	case s.joining != nil && s.canTake(s.joining):
		return s.Size + 1
	case s.leaving != nil:
		return s.Size - 1
	}
	return s.Size
}

// isScaling reports whether a slot is being added or removed, or clients with the former list are still expected.
func (s *state) isScaling() bool {
	return s.joining != nil || slices.ContainsFunc(s.live, func(pod *Pod) bool {
		i := s.following(pod)
		return i.Scale != instruction.Scale{} && (i.Role == instruction.Send || i.Role == instruction.Moved)
	})
}

// scalingProgress describes the change to the number of slots that is in progress; empty if there is none.
func (s *state) scalingProgress() string {
	last := s.slotName(s.Size - 1)
	switch {
	case !s.scales() || s.Suspended:
	case s.joining != nil:
		return fmt.Sprintf("slot %s is being added: its keys are being copied", s.slotName(s.Size))
	case s.target < s.Size && s.holders[s.Size-1] != nil && s.following(s.holders[s.Size-1]).Role == instruction.Send:
		return fmt.Sprintf("slot %s is being removed: its keys are being copied to the other slots", last)
	case s.isScaling():
		return fmt.Sprintf("clients with the former list are still learning the list of %d slots", s.Size)
	case s.target != s.Size:
		return fmt.Sprintf("%d slots, %d are desired", s.Size, s.target)
	}
	return ""
}
