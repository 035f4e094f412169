package model

import (
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// rest is a time without changes: from PhaseAtRest on, and again from PhaseReady on. For a cache, it ends when another
// client changes an object that belongs to the cache.
type rest struct {
	*past

	resting  bool
	woken    map[string]bool // caches for which the rest has ended; "" means all
	lastStep time.Time

	// failed are, for each cache, the resources whose last write by the operator failed, so that the operator has to
	// repeat this write.
	failed map[string]map[string]bool
}

func (r *rest) check(e history.Entry) string {
	switch {
	case isPhase(e.Step):
		r.resting, r.woken = e.Step == history.PhaseAtRest || e.Step == history.PhaseReady, map[string]bool{}
	case e.Step != "":
		r.lastStep = e.Time
	}
	q := requestOf(e)
	isOperators := q != nil && q.User.Username == r.operator
	if isOperators && !reads[q.Verb] {
		defer r.note(q)
	}
	switch {
	case !r.resting || e.State == nil && e.Request == nil:
		return ""
	case !isOperators:
		r.wake(e)
		return ""
	case q.Verb == "watch" || r.expires(e) || r.mayAct(q, e.State != nil), r.handsOver(cacheOfRequest(q), e.Time):
		return ""
	}
	return "at rest, the operator sent: " + q.String() + " " + q.URI
}

// note records whether a write failed.
func (r *rest) note(q *audit.Request) {
	cache := cacheOfRequest(q)
	if r.failed[cache] == nil {
		r.failed[cache] = map[string]bool{}
	}
	r.failed[cache][q.Resource()] = q.Response.Code >= 400
}

// wake ends the rest of the cache that a state belongs to, or the rest of all caches if the state may belong to any of
// them.
func (r *rest) wake(e history.Entry) {
	if e.State == nil {
		return
	}
	o := e.State.Object
	cache := o.GetLabels()["memcached_cr"]
	if o.GetKind() == "Memcached" || managed[o.GetKind()] {
		cache = cacheFor(o)
	}
	r.woken[cache] = true
}

// expires reports whether an entry is the first status which says that a certificate has expired. The operator writes
// this status although nothing else has changed.
func (r *rest) expires(e history.Entry) bool {
	o, _ := r.writesStatus(e)
	if o == nil || !r.isExpired(o) || r.before(o) != nil && r.isExpired(r.before(o)) {
		return false
	}
	r.woken[o.GetName()] = true // The operator may write an event after this status.
	return true
}

func (p *past) isExpired(o *object) bool {
	return conditionOf(p.memcached(o), cachev1.ConditionReady).Reason == cachev1.ReasonCertificateExpired
}

// mayAct reports whether the operator may send a request at rest. If a cache is not Ready, the operator may have a
// reason to try again. Then it may send requests that change nothing. It may send requests that change something only
// if mayChange returns true.
func (r *rest) mayAct(q *audit.Request, changes bool) bool {
	if r.woken[""] {
		return true
	}
	cache := cacheOfRequest(q)
	return cache != "" && r.woken[cache] || slices.ContainsFunc(r.memcacheds(), func(o *object) bool {
		mc := r.memcached(o)
		if cache != "" && cache != mc.Name {
			return false
		}
		// A cache that waits for its update depends on the other caches.
		waits := len(r.woken) > 0 && isTrue(mc, cachev1.ConditionUpdatePending)
		return waits || cache == "" && r.woken[mc.Name] || !changes && !isTrue(mc, cachev1.ConditionReady) ||
			r.mayChange(mc, history.ProcessOf(q))
	})
}

// mayChange reports whether the operator may write for a Memcached at rest: because a conflict lasts, a deadline
// passes, or a refused write succeeds later.
func (r *rest) mayChange(mc *cachev1.Memcached, process history.Process) bool {
	switch conditionOf(mc, cachev1.ConditionReady).Reason {
	case cachev1.ReasonAllPodsReady, cachev1.ReasonScaledToZero, cachev1.ReasonSuspended, cachev1.ReasonSecretNotFound,
		cachev1.ReasonInvalidSecret, cachev1.ReasonCertificateExpired, cachev1.ReasonCertificateUnavailable:
		return false
	case cachev1.ReasonInvalidSpec:
		// The API server may have found the spec invalid. Requests that failed on their way to the API server are not in the
		// history.
		for _, failed := range r.failed[mc.Name] {
			if failed {
				return true
			}
		}
		return process.Started().Before(r.lastStep)
	}
	return true
}

// requestOf returns the request of an entry: the request that wrote its state, or the request that the entry itself
// has. It is nil if there is none.
func requestOf(e history.Entry) *audit.Request {
	if e.State != nil {
		return e.State.By
	}
	return e.Request
}

// cacheOfRequest returns the name of the Memcached that a request is about; empty if it may be any.
func cacheOfRequest(q *audit.Request) string {
	switch {
	case namedAsCache[q.ObjectRef.Resource]:
		return cacheNamed(kindOf[q.ObjectRef.Resource], q.ObjectRef.Name)
	case q.ObjectRef.Resource == "pods":
		return cacheOfPod(q.ObjectRef.Name)
	case q.ObjectRef.Resource == "events":
		return text(bodyOf(q), "regarding", "name")
	}
	return ""
}
