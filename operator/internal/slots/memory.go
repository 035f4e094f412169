package slots

// The memory of running Pods. If memcached is to have more, its container gets more memory first. If memcached is to
// have less, its container keeps its limit and only requests less: the agent does not report how much memory memcached
// has released, and a limit below the memory that memcached still has would end memcached.

import (
	"cmp"
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// Memory is the memory of the Pods of the current template.
type Memory struct {
	// Started is the memory for items that memcached starts with, and Wanted the memory that it is to have, in bytes.
	Started, Wanted int64

	// Container returns the memory that the container needs with Wanted, if memcached had the memory former before.
	Container func(former int64) Container

	// Whole: the container requests as much memory as its limit.
	Whole bool

	// isKept: only new Pods get this memory, because other Pods of their template were given it before.
	isKept bool
}

const (
	// MostMemory is more than the API allows for items, in bytes. A larger value was written by another client.
	MostMemory = int64(1) << 50

	// roomTime is how long a new Pod waits for its memory at most, before it copies keys. The resize takes a second, if
	// the Node has room.
	roomTime = time.Minute

	// roomShare is a divisor: a new Pod waits for its memory for at most a fourth of the time that a copy may take.
	roomShare = 4
)

// memory is the part of an instruction that is about the memory for items, in bytes.
type memory struct {
	wanted, former int64
	at             time.Time // the first decision about a Pod without a slot
}

// withoutMemory splits an instruction into the part about the slot and the part about memory. The first does not depend
// on the second.
func withoutMemory(i instruction.Instruction) (instruction.Instruction, memory) {
	m := memory{i.Memory, i.Record.FormerMemory, i.Record.MemoryAt}
	i.Memory, i.Record.FormerMemory, i.Record.MemoryAt = 0, 0, time.Time{}
	return i, m
}

// in joins the two parts that withoutMemory split.
func (m memory) in(i instruction.Instruction) instruction.Instruction {
	i.Memory, i.Record.FormerMemory, i.Record.MemoryAt = m.wanted, m.former, m.at
	return i
}

// withMemory adds the memory to the next instruction of a Pod. While the container is about to be resized, the
// instruction has the memory that memcached has now: this shows later that the container was changed.
func (s *state) withMemory(pod *Pod, i instruction.Instruction) instruction.Instruction {
	m := s.memory[pod]
	if s.changesMemory(pod) {
		m.wanted = s.has(pod)
		if s.allows(pod) {
			m.wanted = s.Memory.Wanted
		}
		m.former = max(s.formerly(pod), m.wanted)
		if !s.holds(pod) && (m.at.IsZero() || s.isFuture(m.at)) {
			m.at = s.Now
		}
	}
	return m.in(i)
}

// changesMemory reports whether a Pod has, had or gets other memory than memcached starts with. It is false for a Pod
// of another template, because that Pod is replaced anyway.
func (s *state) changesMemory(pod *Pod) bool {
	if s.Memory == nil || s.Memory.isKept && (s.holds(pod) || pod.Instruction.Role != instruction.None) {
		return false
	}
	return s.isCurrent(pod) && !pod.Terminating &&
		(s.memory[pod] != memory{} || s.Memory.Wanted != s.Memory.Started)
}

// keptMemory returns the memory of new Pods while other Pods are not resized: the largest memory that a Pod of their
// template was given. It is nil if no Pod was given any.
func (s *state) keptMemory() *Memory {
	var most *Pod
	for _, pod := range s.live {
		if s.isCurrent(pod) && s.memory[pod].wanted > 0 && (most == nil || s.memory[pod].wanted > s.memory[most].wanted) {
			most = pod
		}
	}
	if most == nil {
		return nil
	}
	return &Memory{
		Wanted: s.memory[most].wanted, Container: func(int64) Container { return most.Container }, isKept: true,
	}
}

// has returns the memory that memcached in a Pod was given.
func (s *state) has(pod *Pod) int64 { return cmp.Or(s.memory[pod].wanted, s.Memory.Started) }

// formerly returns the largest memory that memcached in a Pod had.
func (s *state) formerly(pod *Pod) int64 {
	former := s.memory[pod].former
	if former > MostMemory {
		former = 0
	}
	return max(former, s.has(pod))
}

// needed returns the memory that the container of a Pod needs.
func (s *state) needed(pod *Pod) Container {
	return s.Memory.Container(max(s.formerly(pod), s.Memory.Wanted))
}

// container returns the memory that the container of a Pod is to have.
func (s *state) container(pod *Pod) Container {
	needed := s.needed(pod)
	limit := max(needed.Limit, pod.Container.Limit)
	if s.Memory.Whole {
		return Container{limit, limit}
	}
	return Container{needed.Request, limit}
}

// allows reports whether the container of a Pod has as much memory as it needs for the wanted memory for items, both
// actually and in the Pod's spec. A limit never falls, so only the request shows that the Node has room.
func (s *state) allows(pod *Pod) bool {
	needed := s.needed(pod)
	return s.Memory.Wanted <= s.has(pod) ||
		min(pod.Container.Limit, pod.Actual.Limit) >= needed.Limit &&
			min(pod.Container.Request, pod.Actual.Request) >= needed.Request
}

// hasRoom reports whether a Pod need not wait for its memory any longer before it copies the keys of a slot. A Pod that
// does not get its memory copies the keys that fit.
func (s *state) hasRoom(pod *Pod) bool {
	isGiven := !s.changesMemory(pod) || s.has(pod) == s.Memory.Wanted
	return isGiven || pod.ResizeRefused != "" || !s.Now.Before(s.roomEnds(pod))
}

// roomEnds returns until when a new Pod waits for its memory. The wait is limited because the Pod whose keys it copies
// may be about to end.
func (s *state) roomEnds(pod *Pod) time.Time {
	at := s.memory[pod].at
	if at.IsZero() || s.isFuture(at) {
		at = s.Now
	}
	return at.Add(min(roomTime, s.Timeout/roomShare))
}

// resized returns the memory that the container of a Pod gets now; nil if it keeps what it has. The request is reduced
// only when an agent runs, which makes memcached release memory.
func (s *state) resized(pod *Pod) *Container {
	if !s.changesMemory(pod) || s.Memory.Wanted < s.has(pod) {
		return nil
	}
	container := s.container(pod)
	runs := pod.AgentReady || pod.Instruction.Role == instruction.None
	if container == pod.Container || container.Request < pod.Container.Request && !runs {
		return nil
	}
	return &container
}

// hasMemory reports whether a Pod has the memory that it shall have, or more.
func (s *state) hasMemory(pod *Pod) bool {
	if !s.changesMemory(pod) {
		return true
	}
	needed := s.needed(pod)
	return s.has(pod) == s.Memory.Wanted && pod.Actual.Limit >= needed.Limit && pod.Actual.Request >= needed.Request
}

// resizing returns how many Pods are still to be resized, and what the first of them waits for.
func (s *state) resizing() string {
	left, waits := 0, ""
	for _, pod := range s.live {
		if s.hasMemory(pod) {
			continue
		}
		left++
		waits = cmp.Or(waits, pod.waitsForMemory())
	}
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d Pods are still to be resized%s", left, len(s.live), waits)
}

// waitsForMemory returns why a Pod does not get its memory, if that is known.
func (p *Pod) waitsForMemory() string {
	switch {
	case p.ResizeRefused != "":
		return fmt.Sprintf("; Pod %s: %s: %s", p.Name, p.ResizeRefused, p.ResizeMessage)
	case p.MemcachedReady && p.Actual == Container{}:
		return fmt.Sprintf("; Pod %s: its kubelet does not report the memory of containers, "+
			"which needs Kubernetes 1.33 or later",
			p.Name)
	}
	return ""
}
