// Package pace limits how often the operator repeats a write that another client reverts. client-go's
// flowcontrol.Backoff does not fit: it grants no attempts without a pause, and doubles the pause instead of deriving
// it from how long the conflict has lasted.
package pace

// How long to pause before repeating a write that another client reverts.

import "time"

// Shortest and Longest bound the pause before another write.
const (
	Shortest = 15 * time.Second
	Longest  = 10 * time.Minute
)

// Limit is how many writes may follow each other without a pause. Before each further write, the operator pauses for
// three times the duration of the conflict so far. So a short conflict ends soon, and an endless conflict costs few
// writes.
type Limit int

// Writes records the writes that another client reverted. The zero value has none.
type Writes struct {
	count       int
	first, last time.Time
}

// After returns the record after one more write.
func (w Writes) After(now time.Time) Writes {
	if w.IsOver(now) {
		w = Writes{first: now}
	}
	return Writes{count: w.count + 1, first: w.first, last: now}
}

// IsOver reports whether the last write is so long ago that the next one starts a new conflict. The time for this is
// longer than any pause, so a write at the end of a pause belongs to the same conflict.
func (w Writes) IsOver(now time.Time) bool {
	return w.count == 0 || now.Sub(w.last) >= 2*Longest
}

// Wait returns how long to wait before the next write; 0 means none.
func (l Limit) Wait(w Writes, now time.Time) time.Duration {
	if w.count < int(l) {
		return 0
	}
	pause := min(max(3*w.last.Sub(w.first), Shortest), Longest)
	return max(w.last.Add(pause).Sub(now), 0)
}
