package model

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/test/faults/history"
)

// seen returns the states of an object that a process of the operator may have taken for the current state when it
// decided to write. A status is written with the resource version that the process has read. So from such a write on,
// the process knows at least the state of the Memcached before that write.
func (p *past) seen(process history.Process, uid types.UID) []*object {
	known := p.known(process)
	states := p.objects[uid]
	for i, state := range states {
		if by := p.byOperator(p.entries[state.at]); i > 0 && by != nil && history.ProcessOf(by) == process &&
			by.ObjectRef.Resource == "memcacheds" {
			known = max(known, states[i-1].at)
		}
	}
	var seen []*object
	for i, state := range states {
		if last := i == len(states)-1; (last || states[i+1].at > known) && !state.deleted {
			seen = append(seen, state.object)
		}
	}
	return seen
}

// existed reports whether a process may believe that an object exists.
func (p *past) existed(process history.Process, uid types.UID) bool {
	states := p.objects[uid]
	if len(states) == 0 {
		return false
	}
	last := states[len(states)-1]
	return !last.deleted || last.at > p.known(process)
}

// known returns the index of the last entry that a process must know. A process lists all objects when it starts,
// watches deliver within the lag unless something holds them up, and at rest the process knows everything.
func (p *past) known(process history.Process) int {
	return max(p.start(process)-1, p.calm(), p.settled)
}

// start returns the index of the first entry after the start of a process.
func (p *past) start(process history.Process) int {
	started, known := p.started[process]
	if known {
		return started
	}
	at := process.Started()
	for started < len(p.entries) && !at.IsZero() && !p.entries[started].Time.After(at) {
		started++
	}
	p.started[process] = started
	return started
}

// lag is how long the operator may take to learn of a change and to decide what to do, if nothing holds it up.
const lag = 5 * time.Second

// calm returns the index of the last entry after which nothing held up the operator for the lag.
func (p *past) calm() int {
	if p.calmOf == len(p.entries) {
		return p.calmAt
	}
	p.calmOf, p.calmAt = len(p.entries), -1
	if len(p.entries) == 0 {
		return -1
	}
	until := p.entries[len(p.entries)-1].Time
	for held := p.heldUp(until); held != nil; held = p.heldUp(until) {
		until = held.Began
	}
	since := until.Add(-lag)
	for p.calmAt+1 < len(p.entries) && p.entries[p.calmAt+1].Time.Before(since) {
		p.calmAt++
	}
	return p.calmAt
}

// heldUp returns the earliest delay that held up the operator within the lag before a time, or nil if nothing did.
func (p *past) heldUp(until time.Time) *history.Delay {
	var earliest *history.Delay
	for _, d := range p.delays {
		if d.Began.Before(until) && d.Ended.After(until.Add(-lag)) && (earliest == nil || d.Began.Before(earliest.Began)) {
			earliest = d
		}
	}
	return earliest
}
