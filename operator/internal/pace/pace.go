// Package pace tells how long to leave alone what has been written too often: somebody else writes it, too.
package pace

import (
	"slices"
	"time"
)

// Limit is how often something may be written within a time.
type Limit struct {
	Writes int
	Window time.Duration
}

// Recent are those of the times of writes, the oldest first, that still count.
func (l Limit) Recent(writes []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(writes), func(t time.Time) bool { return now.Sub(t) >= l.Window })
}

// Wait returns how long to wait with the next write; 0 means that it may be now.
func (l Limit) Wait(writes []time.Time, now time.Time) time.Duration {
	recent := l.Recent(writes, now)
	if len(recent) < l.Writes {
		return 0
	}
	return recent[len(recent)-l.Writes].Add(l.Window).Sub(now)
}
