// Package slots decides which Pod of a cache holds which slot, and moves a slot from a Pod that is to be replaced to
// its successor. It is pure, and it remembers nothing: every decision depends on the observed slice and Pods alone, so
// an operator that was killed between two writes, or a new leader, continues where the former operator stopped.
//
// The life of a Pod, by the role in its instruction:
//
//	none    -> serve                     a slot is free, and the Pod never had an instruction
//	none    -> cold -> serve             a slot is free, and the Pod may have old keys
//	none    -> receive -> moved -> serve it copies the keys of a holder, takes the slot, and the holder ends
//	receive -> cold -> serve             the copy failed, took too long, or lost its source
//	receive -> none                      the holder need not be replaced any more: an undo
//	serve   -> leave                     it gave its slot away, and is to be deleted
//	leave   -> none                      it is needed again: an undo, or a slot more
//	none    -> receive -> moved -> serve  with Scaling, it adds a slot; moved lasts until clients have the new list
//	serve   -> send -> moved -> leave    with Scaling, its slot is removed
//	send    -> serve                     the slot stays: the size was changed back, or another Pod has to be replaced
//
// A Pod without a role is not ready. The readiness of an agent under a new role must not be a readiness that the
// kubelet reported under an old role. So a Pod that had a role before gets the next role only when its agent is seen
// not ready, and the last change to its instruction is a few seconds old. For the same reason, a Pod with the role cold
// takes its slot only after a few seconds.
//
// A Pod that is deleted keeps its slot while it terminates, until its successor has the keys. Its agent sees no new
// instruction in that time, and finds out by the name of the slot which Pod has the slot.
//
// The slice is the record of which Pod holds which slot. The files, in the order of a decision: holders, successors,
// candidates, scaling, then moves, leaving, scale, memory, timeouts and status.
package slots

// The roles of Pods, and the order of the decisions.

import (
	"slices"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// Decide decides what to write now.
func Decide(in Input) Decision {
	b := lookAt(in)
	if !in.Suspended {
		b.keepHolders()
		b.keepSuccessors()
		b.keepLeaving()
		b.callBack()
		b.findSuccessors()
		b.scale()
	}
	d := Decision{
		Endpoints: in.Endpoints, Listed: b.Size, KeepsKeys: b.scales(), Replicas: max(in.Deployed, 0), Slots: b.statuses(),
		Progress: b.progress(),
	}
	if !in.Suspended {
		d.Endpoints, d.Changes, d.Replicas, d.RequeueAfter = b.endpoints(), b.changes(), b.replicas(), b.requeueAfter()
		d.Listed, d.Resizing = b.listed(), b.resizing()
		d.Moving = b.isScaling() || slices.ContainsFunc(d.Endpoints, b.isMoving)
	}
	return d
}

// state is the observed state, and what is decided so far.
type state struct {
	Input // Size is the number of slots in clients' lists

	// target is the desired number of slots.
	target int

	// joining is the Pod that is about to take an added slot, and leaving the Pod whose slot is removed now; nil is
	// none.
	joining, leaving *Pod

	// live are the Pods with the gate that have not ended, the oldest first.
	live  []*Pod
	byUID map[string]*Pod

	// holders and successors are Pods by slot: those that hold it, and those that are about to take it. nil is none.
	holders    []*Pod
	successors []*Pod

	// slot is the number of the slot that a Pod holds.
	slot map[*Pod]int

	// next has the new instructions of Pods. Pods without an entry keep the instruction that they have.
	next map[*Pod]instruction.Instruction

	// memory has the part about memory of each Pod's instruction. Pod.Instruction and next are without that part.
	memory map[*Pod]memory
}

func lookAt(in Input) *state {
	in.Now = in.Now.UTC().Truncate(time.Second)
	in.Size = max(in.Size, 0)
	target := in.Size
	in.Listed = in.listedFor(target)
	if in.scales() {
		in.Size = in.Listed
	}
	in.Pods = slices.Clone(in.Pods)
	b := &state{
		Input: in, target: target, byUID: map[string]*Pod{}, slot: map[*Pod]int{}, next: map[*Pod]instruction.Instruction{},
		successors: make([]*Pod, in.Size), memory: map[*Pod]memory{},
	}
	for i := range b.Pods {
		pod := &b.Pods[i]
		pod.Instruction, b.memory[pod] = withoutMemory(pod.Instruction.Normal())
		if pod.Gated && !pod.Ended && pod.UID != "" && b.byUID[pod.UID] == nil {
			b.live, b.byUID[pod.UID] = append(b.live, pod), pod
		}
	}
	slices.SortFunc(b.live, olderFirst)
	b.Endpoints = b.withoutRepeats(in.Endpoints)
	b.holders = b.findHolders()
	if b.Memory == nil {
		b.Memory = b.keptMemory()
	}
	return b
}

// withoutRepeats leaves out the entries that another client added: a second entry of a slot, or of a Pod. A Pod with
// several entries keeps the slot of its instruction or, if none has that, the lowest slot.
func (s *state) withoutRepeats(endpoints []Endpoint) []Endpoint {
	rank := func(e Endpoint) int {
		if pod := s.byUID[e.UID]; pod != nil && pod.Instruction.Slot == s.slotName(e.Slot) {
			return -1
		}
		return e.Slot
	}
	var kept []Endpoint
	ranked := slices.SortedStableFunc(slices.Values(endpoints), func(x, y Endpoint) int { return rank(x) - rank(y) })
	for _, endpoint := range ranked {
		if !slices.ContainsFunc(kept, func(k Endpoint) bool { return k.Slot == endpoint.Slot || k.UID == endpoint.UID }) {
			kept = append(kept, endpoint)
		}
	}
	return kept
}

func olderFirst(x, y *Pod) int {
	if order := x.Created.Compare(y.Created); order != 0 {
		return order
	}
	return strings.Compare(x.Name+x.UID, y.Name+y.UID)
}

// instruct gives a Pod an instruction.
func (s *state) instruct(pod *Pod, i instruction.Instruction) { s.next[pod] = i.Normal() }

// holds reports whether a Pod holds a slot.
func (s *state) holds(pod *Pod) bool {
	_, found := s.slot[pod]
	return found
}

// isSuccessor reports whether a Pod is about to take a slot.
func (s *state) isSuccessor(pod *Pod) bool { return slices.Contains(s.successors, pod) }

// isCurrent reports whether a Pod has the current template: the one that a rollout leads to.
func (s *state) isCurrent(pod *Pod) bool { return s.Hash != "" && pod.Hash == s.Hash }

// isOutdated reports whether a rollout replaces a Pod.
func (s *state) isOutdated(pod *Pod) bool { return s.Hash != "" && pod.Hash != s.Hash }

// changes returns the changes to all Pods.
func (s *state) changes() []Change {
	var changes []Change
	for _, pod := range s.live {
		change := Change{Pod: pod.Name, UID: pod.UID}
		if next := s.following(pod); next != s.memory[pod].in(pod.Instruction) {
			change.Instruction = &next
		}
		if cost := s.cost(pod); cost != pod.Cost {
			change.Cost = &cost
		}
		if gate := s.gate(pod); gate != pod.GateTrue {
			change.Gate = &gate
		}
		change.Container = s.resized(pod)
		if change != (Change{Pod: pod.Name, UID: pod.UID}) {
			changes = append(changes, change)
		}
	}
	return changes
}

// following returns the instruction of a Pod after this decision.
func (s *state) following(pod *Pod) instruction.Instruction {
	next, found := s.next[pod]
	if !found {
		next = pod.Instruction
	}
	if s.isAhead(pod, next) {
		next.Since = s.Now
	}
	next.Record = s.dated(next.Record)
	return s.withMemory(pod, next)
}
