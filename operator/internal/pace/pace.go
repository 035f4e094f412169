// Package pace tells how long to leave alone what somebody else undoes each time that it is written.
package pace

import "time"

// Shortest and Longest bound the pause before another write.
const (
	Shortest = 15 * time.Second
	Longest  = 10 * time.Minute
)

// Limit is how many writes may follow each other at once. Before each further one there is a pause three times as long
// as the fight has lasted: what is over soon is put right soon, and what goes on for ever costs little.
type Limit int

// Writes is what is remembered of writes that somebody else undid. Its zero value has had none.
type Writes struct {
	count       int
	first, last time.Time
}

// After returns the fight after one more write.
func (w Writes) After(now time.Time) Writes {
	if w.IsOver(now) {
		w = Writes{first: now}
	}
	return Writes{count: w.count + 1, first: w.first, last: now}
}

// IsOver tells whether there was no write for so long that the next one begins another fight. That is longer than any
// pause, so that a write at the end of one is still of the same fight.
func (w Writes) IsOver(now time.Time) bool {
	return w.count == 0 || now.Sub(w.last) >= 2*Longest
}

// Wait returns how long to wait with the next write; 0 means that it may be now.
func (l Limit) Wait(w Writes, now time.Time) time.Duration {
	if w.count < int(l) {
		return 0
	}
	pause := min(max(3*w.last.Sub(w.first), Shortest), Longest)
	return max(w.last.Add(pause).Sub(now), 0)
}
