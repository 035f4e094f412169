package model

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// specsFor returns the states of the Memcached for which the operator may have written an object. This is the Memcached
// after which the object is named, in each state that the process may have read.
func (p *past) specsFor(o *object, by *audit.Request) []*cachev1.Memcached {
	return p.specsNamed(cacheFor(o), history.ProcessOf(by))
}

// specsNamed returns the Memcacheds with a name, in each state that a process may have read.
func (p *past) specsNamed(name string, process history.Process) []*cachev1.Memcached {
	var specs []*cachev1.Memcached
	for uid, states := range p.objects {
		if states[0].GetKind() != "Memcached" || states[0].GetName() != name || !p.existed(process, uid) {
			continue
		}
		for _, seen := range p.seen(process, uid) {
			specs = append(specs, p.memcached(seen))
		}
	}
	return specs
}

// memcached decodes a Memcached, and keeps the result.
func (p *past) memcached(o *object) *cachev1.Memcached {
	mc, known := p.decoded[o]
	if !known {
		mc = decoded[cachev1.Memcached](o.Object)
		p.decoded[o] = mc
	}
	return mc
}

// exists reports whether an object exists.
func (p *past) exists(uid types.UID) bool {
	states := p.objects[uid]
	return len(states) > 0 && !states[len(states)-1].deleted
}
