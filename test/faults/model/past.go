package model

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/consistency"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// past is the part of a history before an entry. All rules share it.
type past struct {
	operator  string // the operator's user name
	namespace string // of the run
	phase     string // the last phase
	entries   []history.Entry

	objects map[types.UID][]moment // each object's states, the oldest first
	current map[ref]*object        // the existing objects
	started map[history.Process]int
	delays  []*history.Delay     // of the whole history, because each is recorded only when it is over
	access  []consistency.Access // of the whole history
	settled int                  // the index of PhaseFaultsOver, once PhaseAtRest has been reached; else -1
	over    int                  // the index of PhaseFaultsOver, once this phase has been reached; else -1
	calmOf  int                  // see calm
	calmAt  int
	decoded map[*object]*cachev1.Memcached
}

// ref names an object in the namespace of the run.
type ref struct{ kind, name string }

type object = unstructured.Unstructured

// moment is a state of an object, and the index of its entry.
type moment struct {
	*object

	at      int
	deleted bool
}

// managed has the kinds that the operator manages.
var managed = map[string]bool{
	"Deployment": true, "Service": true, "NetworkPolicy": true, "PodDisruptionBudget": true, "EndpointSlice": true,
}

func newPast(h *history.History) *past {
	p := &past{
		operator: h.Operator, namespace: h.Namespace, settled: -1, over: -1, calmOf: -1,
		objects: map[types.UID][]moment{}, current: map[ref]*object{}, started: map[history.Process]int{},
		decoded: map[*object]*cachev1.Memcached{},
	}
	for _, e := range h.Entries {
		if e.Delay != nil {
			p.delays = append(p.delays, e.Delay)
		}
		if e.Access != nil {
			p.access = append(p.access, *e.Access)
		}
	}
	return p
}

func (p *past) add(e history.Entry) {
	if isPhase(e.Step) {
		p.phase = e.Step
	}
	switch e.Step {
	case history.PhaseFaultsOver:
		p.over = len(p.entries)
	case history.PhaseAtRest:
		p.settled = p.over
	}
	if e.State != nil {
		o, deleted := e.State.Object, e.State.Type == watch.Deleted
		p.objects[o.GetUID()] = append(p.objects[o.GetUID()], moment{o, len(p.entries), deleted})
		if deleted {
			delete(p.current, refOf(o))
		} else {
			p.current[refOf(o)] = o
		}
	}
	p.entries = append(p.entries, e)
}

// isPhase reports whether a step is a phase of the run, and not a step of the plan.
func isPhase(step string) bool { return strings.HasPrefix(step, "phase: ") }

func refOf(o *object) ref { return ref{o.GetKind(), o.GetName()} }

// before returns the state of an object before this one, or nil if the object did not exist.
func (p *past) before(o *object) *object {
	states := p.objects[o.GetUID()]
	if len(states) == 0 {
		return nil
	}
	return states[len(states)-1].object
}

// byOperator returns the operator's request that wrote a state, or nil.
func (p *past) byOperator(e history.Entry) *audit.Request {
	if e.State == nil || e.State.By == nil || e.State.By.User.Username != p.operator {
		return nil
	}
	return e.State.By
}

// writes returns the managed object that the operator wrote in an entry, and the request. Both are nil if the entry is
// no such write.
func (p *past) writes(e history.Entry) (*object, *audit.Request) {
	by := p.byOperator(e)
	if by == nil || !managed[e.State.Object.GetKind()] {
		return nil, nil
	}
	return e.State.Object, by
}

// writesStatus returns the Memcached whose status the operator wrote in an entry. It is nil if the entry is no such
// write.
func (p *past) writesStatus(e history.Entry) (*object, *audit.Request) {
	by := p.byOperator(e)
	if by == nil || e.State.Object.GetKind() != "Memcached" || by.ObjectRef.Subresource != "status" {
		return nil, nil
	}
	return e.State.Object, by
}

// memcacheds returns the Memcacheds that exist.
func (p *past) memcacheds() []*object { return p.existing("Memcached") }

// existing returns the objects of a kind that exist.
func (p *past) existing(kind string) []*object {
	var found []*object
	for ref, o := range p.current {
		if ref.kind == kind {
			found = append(found, o)
		}
	}
	return sortedByName(found)
}

// managedOf returns the existing objects that have the names of a cache's managed objects.
func (p *past) managedOf(cache string) []*object {
	var found []*object
	for ref, o := range p.current {
		if managed[ref.kind] && cacheNamed(ref.kind, ref.name) == cache {
			found = append(found, o)
		}
	}
	return sortedByName(found)
}

// since returns how long before an entry an object was last written.
func (p *past) since(o *object, e history.Entry) time.Duration {
	states := p.objects[o.GetUID()]
	return e.Time.Sub(p.entries[states[len(states)-1].at].Time)
}
