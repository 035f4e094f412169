package slots

import (
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
)

// statuses returns what the status reports for each slot, as observed.
func (b *board) statuses() []Status {
	var statuses []Status
	for slot, holder := range b.holders {
		status := Status{Name: b.slotName(slot), State: instruction.StateCold, Reason: ReasonNoPod}
		if holder != nil {
			status = b.statusOf(holder, slot)
		}
		status.Address = b.Addresses[status.Name]
		statuses = append(statuses, status)
	}
	return statuses
}

func (b *board) statusOf(holder *Pod, slot int) Status {
	status := Status{Name: b.slotName(slot), Pod: holder.Name}
	if copying := b.copying(slot); copying != nil {
		i := b.following(copying)
		status.State, status.Since = instruction.StateCopying, i.Since
		status.Keys, status.Bytes = copying.Progress.Keys, copying.Progress.Bytes
		return status
	}
	record := b.following(holder).Record
	status.State, status.Since, status.Reason = record.State, record.StateSince, record.Reason
	status.Keys, status.Bytes, status.TotalKeys = record.Keys, record.Bytes, record.TotalKeys
	status.Took = time.Duration(record.CopySeconds) * time.Second
	if status.State == "" {
		status.State = instruction.StateServing
	}
	return status
}

// copying returns the successor that copies the keys of a slot, or nil.
func (b *board) copying(slot int) *Pod {
	successor := b.successors[slot]
	if successor == nil || b.holders[slot] == nil || b.following(successor).Role != instruction.Receive {
		return nil
	}
	return successor
}

// progress returns what is in progress, such as: handoff 2 of 5, slot shop-2: 81 % of 1.2 GiB.
func (b *board) progress() string {
	if !b.Handoff || b.Suspended {
		return ""
	}
	left, total := b.left()
	text := ""
	if left > 0 {
		text = fmt.Sprintf("handoff %d of %d", total-left+1, total)
	}
	for slot := range b.Size {
		if copying := b.copying(slot); copying != nil {
			return fmt.Sprintf("%s, slot %s: %s", orDefault(text, "handoff"), b.slotName(slot), share(copying.Progress))
		}
	}
	if text == "" {
		return ""
	}
	return text + ", no Pod is ready to take the next slot"
}

// left returns how many Pods are still to be replaced, and how many in all. A cordon has no record of those that were
// replaced before.
func (b *board) left() (left, total int) {
	for _, holder := range b.holders {
		switch {
		case holder == nil:
		case b.isOutdated(holder):
			left++
			total = b.Size
		case b.isProtected(holder):
			left++
		}
	}
	return left, max(left, total)
}

// share returns how much is copied.
func share(p instruction.Progress) string {
	if p.TotalBytes <= 0 {
		return "copying"
	}
	return fmt.Sprintf("%d %% of %s", min(100, 100*p.Bytes/p.TotalBytes), size(p.TotalBytes))
}

// size returns a number of bytes in the largest binary unit that fits.
func size(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(bytes), 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if value >= 10 || unit == 0 {
		return fmt.Sprintf("%.0f %s", value, units[unit])
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
