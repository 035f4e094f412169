package slots

// The memory of running Pods. A container that is to have more gets it before memcached does, and one that is to have
// less after it.

import (
	"cmp"
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// Memory is the memory of the Pods of the current template.
type Memory struct {
	// Started and Wanted are for items, in bytes: what memcached starts with, and what it shall have.
	Started, Wanted int64

	// Container returns what the container needs then, if memcached had so much before.
	Container func(former int64) Container
}

// gaveBack is how many bytes a memcached gave back in a second: 512 MiB of 1 GiB took 2, without the coldest keys.
const gaveBack = 256 << 20

// memory is the part of an instruction about memory, for items and in bytes.
type memory struct {
	wanted, former int64
	at             time.Time
}

// withoutMemory parts an instruction: what the Pod does for its slot does not depend on its memory.
func withoutMemory(i instruction.Instruction) (instruction.Instruction, memory) {
	m := memory{i.Memory, i.Record.FormerMemory, i.Record.MemoryAt}
	i.Memory, i.Record.FormerMemory, i.Record.MemoryAt = 0, 0, time.Time{}
	return i, m
}

// in joins what withoutMemory parted.
func (m memory) in(i instruction.Instruction) instruction.Instruction {
	i.Memory, i.Record.FormerMemory, i.Record.MemoryAt = m.wanted, m.former, m.at
	return i
}

// withMemory adds the memory to the next instruction of a Pod.
func (s *state) withMemory(pod *Pod, i instruction.Instruction) instruction.Instruction {
	m := s.memory[pod]
	if s.changesMemory(pod) && s.allows(pod) && (m.wanted != s.Memory.Wanted || m.former != s.former(pod)) {
		m = memory{wanted: s.Memory.Wanted, former: s.former(pod), at: s.Now}
	}
	if s.isFuture(m.at) {
		m.at = s.Now
	}
	return m.in(i)
}

// changesMemory reports whether a Pod has, had or gets another memory than memcached starts with. One of another
// template is replaced.
func (s *state) changesMemory(pod *Pod) bool {
	return s.Memory != nil && s.isCurrent(pod) && !pod.Terminating &&
		(s.memory[pod].wanted != 0 || s.Memory.Wanted != s.Memory.Started)
}

// has returns the memory that memcached in a Pod was given.
func (s *state) has(pod *Pod) int64 { return cmp.Or(s.memory[pod].wanted, s.Memory.Started) }

// former returns the largest memory that memcached in a Pod had, or shall have.
func (s *state) former(pod *Pod) int64 {
	return max(s.memory[pod].former, s.has(pod), s.Memory.Wanted)
}

// allows reports whether the container of a Pod has what its memcached needs with the memory that is wanted, and is to
// keep it.
func (s *state) allows(pod *Pod) bool {
	return s.Memory.Wanted <= s.has(pod) ||
		min(pod.Container.Limit, pod.Actual.Limit) >= s.Memory.Container(s.former(pod)).Limit
}

// resized returns the memory that the container of a Pod gets now; nil if it keeps what it has.
func (s *state) resized(pod *Pod) *Container {
	if !s.changesMemory(pod) || s.Memory.Wanted < s.has(pod) || s.givesBack(pod) {
		return nil
	}
	if container := s.Memory.Container(s.former(pod)); container != pod.Container {
		return &container
	}
	return nil
}

// givesBack reports whether memcached in a Pod may still hold what its container is to lose.
func (s *state) givesBack(pod *Pod) bool { return s.Now.Before(s.givenBack(pod)) }

// givenBack returns when memcached in a Pod has given back what its container is to lose, which nobody reports. The
// kubelet would refuse less than is in use, and try again late. The time is zero if the container loses nothing.
func (s *state) givenBack(pod *Pod) time.Time {
	at := s.memory[pod].at
	if !s.changesMemory(pod) || at.IsZero() {
		return time.Time{}
	}
	loses := max(pod.Container.Limit, pod.Actual.Limit) - s.Memory.Container(s.former(pod)).Limit
	if loses <= 0 {
		return time.Time{}
	}
	if s.isFuture(at) {
		at = s.Now
	}
	return at.Add(settleTime + time.Duration(loses/gaveBack)*time.Second)
}

// hasMemory reports whether a Pod has the memory that it shall have.
func (s *state) hasMemory(pod *Pod) bool {
	return !s.changesMemory(pod) || s.has(pod) == s.Memory.Wanted && pod.Actual == s.Memory.Container(s.former(pod))
}

// hasRoom reports whether a Pod has the memory for the keys of a slot. Its container may still have more.
func (s *state) hasRoom(pod *Pod) bool {
	return !s.changesMemory(pod) || s.has(pod) == s.Memory.Wanted
}

// resizing returns how many Pods still get other memory.
func (s *state) resizing() string {
	left, waits := 0, ""
	for _, pod := range s.live {
		if s.hasMemory(pod) {
			continue
		}
		if left++; waits == "" && pod.ResizeRefused != "" {
			waits = fmt.Sprintf("; Pod %s: %s: %s", pod.Name, pod.ResizeRefused, pod.ResizeMessage)
		}
	}
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d Pods are still to be resized%s", left, len(s.live), waits)
}
