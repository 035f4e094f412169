package model

import (
	"slices"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// mostOverwrites is how often the operator overwrites the status that another client wrote, before it pauses.
const mostOverwrites = 5

// mayKeepStatus reports whether the operator may still leave a wrong status, because another client overwrote it again
// and again during the faults, and the operator was not restarted since.
func (p *past) mayKeepStatus(mc *cachev1.Memcached) bool {
	if p.lastProcess().Started().After(p.lastStep()) {
		return false
	}
	overwrites, author := map[history.Process]int{}, history.Process("")
	for _, state := range p.objects[mc.UID] {
		by := p.entries[state.at].State.By
		if by == nil || by.ObjectRef.Subresource != "status" {
			continue
		}
		before := author
		author = history.ProcessOf(by) // empty unless it is a process of the operator
		if _, wrote := overwrites[author]; !wrote {
			overwrites[author] = 0
		} else if author != before && author != "" {
			overwrites[author]++
		}
		if overwrites[author] >= mostOverwrites {
			return true
		}
	}
	return false
}

// lastProcess returns the process that sent the last request of the operator.
func (p *past) lastProcess() history.Process {
	for _, e := range slices.Backward(p.entries) {
		if q := requestOf(e); q != nil && q.User.Username == p.operator {
			return history.ProcessOf(q)
		}
	}
	return ""
}
