package slots

import (
	"slices"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// candidates returns the Pods that may take a slot now: those of the current template first, then the oldest. Their
// agent is not ready, so its readiness will be that of the role that it gets.
func (b *board) candidates() []*Pod {
	var candidates []*Pod
	for _, pod := range b.newcomers() {
		if pod.MemcachedReady && !pod.AgentReady && pod.IP != "" && b.isSettled(pod) && !b.isPredecessor(pod) {
			candidates = append(candidates, pod)
		}
	}
	slices.SortStableFunc(candidates, func(x, y *Pod) int { return b.rank(x) - b.rank(y) })
	return candidates
}

// rank orders candidates: those of the current template come first.
func (b *board) rank(pod *Pod) int {
	if b.isCurrent(pod) {
		return 0
	}
	return 1
}

// newcomers returns the Pods that have no slot and no role, whether they can take a slot already or not.
func (b *board) newcomers() []*Pod {
	var newcomers []*Pod
	for _, pod := range b.live {
		if pod.Instruction.Role == instruction.None && !b.holds(pod) && !pod.Terminating && !b.isSuccessor(pod) {
			newcomers = append(newcomers, pod)
		}
	}
	return newcomers
}

// isPredecessor reports whether a holder still names a Pod that was called back as its predecessor. Two Pods must not
// be the predecessor of each other: the older record would decide the direction.
func (b *board) isPredecessor(pod *Pod) bool {
	return slices.ContainsFunc(b.holders, func(holder *Pod) bool {
		return holder != nil && holder.Instruction.Record.Predecessor == pod.UID
	})
}

// toReplace returns the holders that need a successor and have none: terminating ones first, because they end soon,
// then outdated ones, each by slot.
func (b *board) toReplace() []*Pod {
	var terminating, outdated []*Pod
	for slot, holder := range b.holders {
		switch {
		case holder == nil || b.successors[slot] != nil || holder.IP == "":
		case holder.Terminating:
			terminating = append(terminating, holder)
		case b.isOutdated(holder):
			outdated = append(outdated, holder)
		}
	}
	return slices.Concat(terminating, outdated)
}

// callBack makes Pods of the current template that gave their slot away available again, if there are more slots to
// take than new Pods: after an undo, when the size grows again, or when another Pod is deleted just as it shrinks. That
// one the ReplicaSet does not replace. The Deployment would wait for them forever. Before such a Pod has drained,
// clients still use it, and the Pod that took its slot invalidates what they change.
func (b *board) callBack() {
	missing := -len(b.newcomers())
	for _, pod := range b.newcomers() {
		if b.isOutdated(pod) {
			missing++ // It is about to be deleted.
		}
	}
	for slot, holder := range b.holders {
		if b.successors[slot] == nil && (holder == nil || holder.Terminating || b.isOutdated(holder)) {
			missing++
		}
	}
	for _, pod := range b.live {
		if missing > 0 && b.isNeededAgain(pod) && !b.Now.Before(drained(pod)) {
			b.tell(pod, b.idle())
			missing--
		}
	}
}

// isNeededAgain reports whether a Pod that gave its slot away may take one again, once it has drained.
func (b *board) isNeededAgain(pod *Pod) bool {
	return pod.Instruction.Role == instruction.Leave && b.isCurrent(pod) && !pod.Terminating
}

// idle takes the role from a Pod. That the Pod had one is remembered by the time.
func (b *board) idle() instruction.Instruction { return instruction.Instruction{Since: b.Now} }
