package slots

import (
	"slices"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// candidates returns the Pods that may take a slot now: first the Pods of the current template, then the others, and in
// both groups the oldest first. The agent of a candidate is not ready, so that its later readiness belongs to the role
// that it gets. The gate of a candidate is closed, so that an open gate later shows that the Pod held the slot.
func (s *state) candidates() []*Pod {
	var candidates []*Pod
	for _, pod := range s.newPods() {
		isUnready := !pod.AgentReady && !pod.GateTrue
		if pod.MemcachedReady && isUnready && pod.IP != "" && s.isSettled(pod) && !s.isPredecessor(pod) {
			candidates = append(candidates, pod)
		}
	}
	slices.SortStableFunc(candidates, func(x, y *Pod) int { return s.rank(x) - s.rank(y) })
	return candidates
}

// rank orders candidates: those of the current template come first.
func (s *state) rank(pod *Pod) int {
	if s.isCurrent(pod) {
		return 0
	}
	return 1
}

// newPods returns the Pods that have no slot and no role, whether they can take a slot already or not.
func (s *state) newPods() []*Pod {
	var newPods []*Pod
	for _, pod := range s.live {
		if pod.Instruction.Role == instruction.None && !s.holds(pod) && !pod.Terminating && !s.isSuccessor(pod) {
			newPods = append(newPods, pod)
		}
	}
	return newPods
}

// isPredecessor reports whether the record of a holder still names this Pod as its predecessor, although the Pod was
// called back. Such a Pod must not take a slot yet: if two Pods were the predecessor of each other, the older record
// would decide which of them gives its slot away.
func (s *state) isPredecessor(pod *Pod) bool {
	return slices.ContainsFunc(s.holders, func(holder *Pod) bool {
		return holder != nil && holder.Instruction.Record.Predecessor == pod.UID
	})
}

// toReplace returns the holders that need a successor and have none: first the terminating holders, because they end
// soon, then the outdated ones. Both are in the order of their slots.
func (s *state) toReplace() []*Pod {
	var terminating, outdated []*Pod
	for slot, holder := range s.holders {
		switch {
		case holder == nil || s.successors[slot] != nil || holder.IP == "":
		case holder.Terminating:
			terminating = append(terminating, holder)
		case s.isOutdated(holder):
			outdated = append(outdated, holder)
		}
	}
	return slices.Concat(terminating, outdated)
}

// callBack makes Pods of the current template that gave their slot away available again, if there are more slots to
// take than new Pods: after a rollout is undone, when the size grows again, or when another Pod is deleted just as the
// size shrinks. In the last case, the ReplicaSet does not replace the deleted Pod. If no Pod were called back, the
// Deployment would wait forever. A Pod is called back only after it has drained: until then clients still use it, and
// the Pod that took its slot invalidates the keys that they change.
func (s *state) callBack() {
	missing := -len(s.newPods())
	for _, pod := range s.newPods() {
		if s.isOutdated(pod) {
			missing++ // It is about to be deleted.
		}
	}
	for slot, holder := range s.holders {
		if s.successors[slot] == nil && (holder == nil || holder.Terminating || s.isOutdated(holder)) {
			missing++
		}
	}
	if s.target > s.Size && !slices.ContainsFunc(s.live, s.joins) {
		missing++
	}
	for _, pod := range s.live {
		if missing > 0 && s.isNeededAgain(pod) && !s.Now.Before(drained(pod)) {
			s.instruct(pod, s.idle())
			missing--
		}
	}
}

// isNeededAgain reports whether a Pod that gave its slot away may take one again, once it has drained.
func (s *state) isNeededAgain(pod *Pod) bool {
	return pod.Instruction.Role == instruction.Leave && s.isCurrent(pod) && !pod.Terminating
}

// idle returns the instruction that takes the role from a Pod. The time in that instruction shows that the Pod had a
// role before.
func (s *state) idle() instruction.Instruction { return instruction.Instruction{Since: s.Now} }
