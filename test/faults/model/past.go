package model

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// past is what happened before an entry of a history. All rules share it.
type past struct {
	operator  string // its user
	namespace string // of the run
	phase     string // the last one
	entries   []history.Entry

	objects map[types.UID][]moment // each object's states, the oldest first
	current map[ref]*object        // the objects that exist
	started map[history.Process]int
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

// kinds that the operator manages.
var managed = map[string]bool{"Deployment": true, "Service": true, "NetworkPolicy": true, "PodDisruptionBudget": true}

func newPast(h *history.History) *past {
	return &past{
		operator: h.Operator, namespace: h.Namespace,
		objects: map[types.UID][]moment{}, current: map[ref]*object{}, started: map[history.Process]int{},
		decoded: map[*object]*cachev1.Memcached{},
	}
}

func (p *past) add(e history.Entry) {
	if isPhase(e.Step) {
		p.phase = e.Step
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

// isPhase distinguishes a phase of the run from a step of the plan.
func isPhase(step string) bool { return strings.HasPrefix(step, "phase: ") }

func refOf(o *object) ref { return ref{o.GetKind(), o.GetName()} }

// before returns an object as it was before a state of it; nil if it did not exist.
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

// writes returns the managed object that the operator wrote by an entry, and the request; nil if it did not.
func (p *past) writes(e history.Entry) (*object, *audit.Request) {
	by := p.byOperator(e)
	if by == nil || !managed[e.State.Object.GetKind()] {
		return nil, nil
	}
	return e.State.Object, by
}

// writesStatus returns the Memcached whose status the operator wrote by an entry; nil if it did not.
func (p *past) writesStatus(e history.Entry) (*object, *audit.Request) {
	by := p.byOperator(e)
	if by == nil || e.State.Object.GetKind() != "Memcached" || by.ObjectRef.Subresource != "status" {
		return nil, nil
	}
	return e.State.Object, by
}

// seen returns the states of an object that a process of the operator may have taken for the current one when it
// decided to write. A watch may be slow for as long as a fault lasts, but a process starts with a fresh list. And a
// status is written with the resource version that was read: from then on, the process knows the Memcached at least
// as it was before that write.
func (p *past) seen(process history.Process, uid types.UID) []*object {
	oldest := p.start(process)
	states := p.objects[uid]
	for i, state := range states {
		if by := p.byOperator(p.entries[state.at]); i > 0 && by != nil && history.ProcessOf(by) == process &&
			by.ObjectRef.Resource == "memcacheds" {
			oldest = max(oldest, states[i-1].at)
		}
	}
	var seen []*object
	for i, state := range states {
		if last := i == len(states)-1; (last || states[i+1].at > oldest) && !state.deleted {
			seen = append(seen, state.object)
		}
	}
	return seen
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

// existed reports whether a process may believe that an object exists: it did, after the process started.
func (p *past) existed(process history.Process, uid types.UID) bool {
	states := p.objects[uid]
	if len(states) == 0 {
		return false
	}
	last := states[len(states)-1]
	return !last.deleted || last.at >= p.start(process)
}

// memcacheds returns the Memcacheds that exist.
func (p *past) memcacheds() []*object { return p.existing("Memcached", "") }

// existing returns the objects of a kind that exist, only those with a controller if its uid is given.
func (p *past) existing(kind string, controller types.UID) []*object {
	var found []*object
	for ref, o := range p.current {
		if ref.kind == kind && (controller == "" || controllerOf(o).UID == controller) {
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
