package slots

import (
	"slices"
	"time"
)

// terminate deletes a Pod gracefully.
func (w *world) terminate(pod *simPod) {
	if !pod.Terminating {
		pod.Terminating, pod.deleted, pod.Ends = true, w.now, w.now.Add(simTimeout+simDrain+30*time.Second)
		pod.rv++
		w.log("%s terminates", pod.Name)
	}
}

// end removes a Pod.
func (w *world) end(pod *simPod) {
	if w.careful && w.isNeeded(pod) {
		w.violated("%s ends, and no other Pod has its keys", pod.Name)
	}
	w.pods = slices.DeleteFunc(w.pods, func(p *simPod) bool { return p == pod })
	w.log("%s is deleted", pod.Name)
}

// isNeeded reports whether only this Pod has the keys of a slot.
func (w *world) isNeeded(pod *simPod) bool {
	slot := w.input().slotOf(pod.Instruction.Slot)
	return pod.GateTrue && serves(pod.Instruction.Role) && slot != none && slot < w.size &&
		!slices.ContainsFunc(w.pods, func(p *simPod) bool { return p.complete == pod.UID })
}

// mayEnd reports whether the agent of a terminating Pod lets memcached end.
func (w *world) mayEnd(pod *simPod) bool {
	since := w.now.Sub(pod.deleted)
	isCopied := slices.ContainsFunc(w.pods, func(p *simPod) bool { return p.agent.source == pod.UID })
	switch {
	case w.slotOf(pod.UID) == none:
		if pod.gave.IsZero() {
			pod.gave = w.now
		}
		if !w.isTaken(pod.Instruction.Slot) {
			return !w.now.Before(pod.gave.Add(simAbsent))
		}
		return !w.now.Before(pod.gave.Add(simDrain))
	case isCopied:
		return since > simTimeout
	}
	pod.gave = time.Time{}
	return since > w.patience
}

// isTaken reports whether any Pod has this slot.
func (w *world) isTaken(slot string) bool {
	in := w.input()
	return slices.ContainsFunc(w.slice, func(e Endpoint) bool { return in.slotName(e.Slot) == slot })
}
