package slots

// Moves a slot to another Pod, with one write of the EndpointSlice.

import (
	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// endpoints returns the desired EndpointSlice. A slot moves with one write, as soon as its successor is ready. A slot
// whose holder ended keeps the entry of that Pod, as not ready, until another Pod takes the slot: the entry shows that
// keys were lost.
func (s *state) endpoints() []Endpoint {
	var endpoints []Endpoint
	for slot := range s.Size {
		switch successor, holder := s.successors[slot], s.holders[slot]; {
		case holder != nil && holder == s.leaving:
		case successor != nil && s.canTake(successor):
			endpoints = append(endpoints, endpointOf(slot, successor))
		case holder != nil:
			endpoint := endpointOf(slot, holder)
			if holder.IP == "" { // An entry needs an address.
				endpoint.IP, endpoint.Ready = s.observed(slot).IP, false
			}
			endpoints = append(endpoints, endpoint)
		default:
			if last := s.observed(slot); last.IP != "" && s.byUID[last.UID] == nil {
				last.Ready = false
				endpoints = append(endpoints, last)
			}
		}
	}
	if s.listed() > s.Size {
		endpoints = append(endpoints, endpointOf(s.Size, s.joining))
	}
	return endpoints
}

// isMoving reports whether the Pod of an entry has just taken the slot, and the Deployment may not count it as
// available yet. The deletion of its predecessor shows that the Deployment counts it, unless the predecessor was
// deleted for another reason before. The readiness of the Pod alone does not show it.
func (s *state) isMoving(entry Endpoint) bool {
	pod := s.byUID[entry.UID]
	if pod == nil || pod.Terminating {
		return false
	}
	old := s.predecessor(pod)
	return old != nil && (!old.Terminating || !pod.Ready) &&
		(pod.Instruction.Role == instruction.Receive || s.Now.Before(s.moveEnds(pod)))
}

func endpointOf(slot int, pod *Pod) Endpoint {
	return Endpoint{Slot: slot, Pod: pod.Name, UID: pod.UID, IP: pod.IP, Ready: pod.MemcachedReady}
}

// observed returns the entry of a slot in the slice.
func (s *state) observed(slot int) Endpoint {
	for _, endpoint := range s.Endpoints {
		if endpoint.Slot == slot {
			return endpoint
		}
	}
	return Endpoint{}
}

// canTake reports whether a successor takes its slot now: its agent has carried out the instruction. A Pod that held
// the slot before takes it back immediately.
func (s *state) canTake(pod *Pod) bool {
	if pod.Instruction.Role == instruction.Cold && !s.isSettled(pod) {
		return false
	}
	next, _ := withoutMemory(s.following(pod))
	return pod.MemcachedReady && pod.IP != "" && next == pod.Instruction &&
		(pod.AgentReady || s.hasHeld(pod))
}
