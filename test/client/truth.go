package main

import (
	"sync"
	"time"
)

// truth is what one key may answer: each write of it has a version, and a write begins only when the one before it was
// answered. So the versions say what is older, whichever connections the writes took.
type truth struct {
	writing sync.Mutex // held from before a write is sent until it is answered

	mu      sync.Mutex
	begun   int
	settled []settled // the last of them, oldest first
}

// settled is a write, or a deletion, that was answered.
type settled struct {
	version int
	deleted bool
	at      time.Time
}

// begin returns the version of the next write. The caller settles it.
func (k *truth) begin() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.begun++
	return k.begun
}

// settle notes that a write was answered.
func (k *truth) settle(version int, deleted bool, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.settled = append(k.settled, settled{version, deleted, at})
	// All that is older than the newest one before the longest read is of no interest.
	if first := len(k.settled) - 1; first > 0 && at.Sub(k.settled[first].at) > patience {
		k.settled = k.settled[first:]
	}
}

// before returns the last write that was answered before a time.
func (k *truth) before(at time.Time) (last settled) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.settled {
		if s.at.Before(at) {
			last = s
		}
	}
	return last
}

// next returns the write that replaced a version, if it was answered.
func (k *truth) next(version int) (next settled, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.settled {
		if s.version > version {
			return s, true
		}
	}
	return settled{}, false
}

// verdict states why an answer is wrong.
type verdict struct {
	stale, resurrected bool

	// age is how long before the read the value was replaced; zero if it was not.
	age time.Duration
}

// judge judges the version that a read returned which began at a time. Writes that were answered within the bound
// before it may be missing. A miss is always right, and is not judged.
func (k *truth) judge(version int, began time.Time, bound time.Duration) verdict {
	var v verdict
	if next, replaced := k.next(version); replaced && next.at.Before(began) {
		v.age = began.Sub(next.at)
	}
	if last := k.before(began.Add(-bound)); version < last.version {
		v.stale, v.resurrected = !last.deleted, last.deleted
	}
	return v
}
