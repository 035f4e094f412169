package slots

// When the Pod on a cordoned Node is replaced.

import (
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// noteCordon remembers since when a holder is on a cordoned Node: the timeout counts from then.
func (b *board) noteCordon(holder *Pod, record instruction.Record) instruction.Record {
	switch {
	case !b.Handoff || !holder.OnCordonedNode:
		record.CordonedSince = time.Time{}
	case record.CordonedSince.IsZero():
		record.CordonedSince = b.Now
	}
	return record
}

// isProtected reports whether a holder on a cordoned Node waits for its handoff: until the timeout.
func (b *board) isProtected(holder *Pod) bool {
	if !b.Handoff || !holder.OnCordonedNode || holder.Terminating {
		return false
	}
	since := b.following(holder).Record.CordonedSince
	return since.IsZero() || b.Now.Before(since.Add(b.Timeout))
}

// holdsBack reports whether evictions must wait. A drain cordons its Node first, so evictions are refused at rest, too:
// otherwise the first would come before the cordon is seen.
func (b *board) holdsBack() bool {
	if !b.Handoff {
		return false
	}
	for i := range b.Pods {
		pod := &b.Pods[i]
		if !pod.OnCordonedNode || pod.Ended || pod.Terminating {
			continue
		}
		if !pod.Gated || b.holds(pod) && !b.isProtected(pod) { // Nothing will ever hand over the slot.
			return false
		}
	}
	return true
}

// needsExtraPod reports whether the Deployment needs a Pod more than slots, because one must leave a cordoned Node.
// They leave one by one: a Pod that gave its slot away must be deleted before the next extra Pod is created. A rollout
// replaces them anyway, and the Deployment would wait for the extra Pod, which has no slot, to become ready.
func (b *board) needsExtraPod() bool {
	if b.isRolling() {
		return false
	}
	needed := false
	for slot, holder := range b.holders {
		switch {
		case holder == nil || !holder.OnCordonedNode || holder.Terminating || !b.Handoff:
		case b.isProtected(holder), b.successors[slot] != nil:
			needed = true
		}
	}
	return needed && !b.hasLeaving()
}

// isRolling reports whether some Pods are not of the current template, or whether that is unknown.
func (b *board) isRolling() bool {
	for i := range b.Pods {
		pod := &b.Pods[i]
		if !pod.Ended && !pod.Terminating && !b.isCurrent(pod) {
			return true
		}
	}
	return b.Hash == ""
}

func (b *board) hasLeaving() bool {
	for _, pod := range b.live {
		if pod.Instruction.Role == instruction.Leave && !pod.Terminating {
			return true
		}
	}
	return false
}

// spare returns how many Pods of the current template exist beyond the size. So many may leave: the Deployment would
// wait for another to become ready again.
func (b *board) spare() int {
	spare := -b.Size
	for _, pod := range b.live {
		if b.isCurrent(pod) && !pod.Terminating {
			spare++
		}
	}
	for slot, successor := range b.successors {
		if holder := b.holders[slot]; successor != nil && holder != nil && b.isCurrent(holder) && !holder.Terminating {
			spare--
		}
	}
	return spare
}
