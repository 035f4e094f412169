package model

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

func restRules() []Rule {
	return []Rule{{
		Name: "suspended",
		Promise: "While spec.suspend is true, the operator writes nothing but the status, and pauses a rollout in progress " +
			"before the condition Suspended.",
		New: suspended,
	}, {
		Name:    "no requests at rest",
		Promise: "If nothing changes, the operator sends no requests. Only what failed, or is in conflict, is tried again.",
		New:     noRequests,
	}, {
		Name: "no hot loop",
		Promise: "The operator does not repeat a request endlessly: it backs off after errors, and pauses for at least 15 " +
			"seconds after three writes of an object that another client reverts.",
		New: noHotLoop,
	}}
}

func suspended(p *past) func(history.Entry) string {
	return func(e history.Entry) string {
		o, by := p.writes(e)
		if o == nil {
			return ""
		}
		specs := p.specsFor(o, by)
		if len(specs) == 0 || slices.ContainsFunc(specs, func(mc *cachev1.Memcached) bool { return !mc.Spec.Suspend }) {
			return ""
		}
		paused := func(mc *cachev1.Memcached) bool { return isTrue(mc, cachev1.ConditionSuspended) }
		switch {
		case fieldManagerOf(by) != pauseManager:
			return fmt.Sprintf("the operator wrote %s %s, although spec.suspend is true", o.GetKind(), o.GetName())
		case !slices.ContainsFunc(specs, func(mc *cachev1.Memcached) bool { return !paused(mc) }):
			return fmt.Sprintf("the operator paused %s %s after it had reported Suspended", o.GetKind(), o.GetName())
		}
		return ""
	}
}

// noRequests holds from PhaseAtRest on, until something else changes. A Memcached that is not Ready may have a reason
// to be tried again: then only requests that change something count, unless a field manager conflict lasts.
func noRequests(p *past) func(history.Entry) string {
	resting := false
	return func(e history.Entry) string {
		if isPhase(e.Step) {
			resting = e.Step == history.PhaseAtRest
		}
		q := e.Request
		if e.State != nil {
			q = e.State.By
		}
		switch {
		case !resting || e.Step != "" || e.Access != nil:
			return ""
		case q == nil || q.User.Username != p.operator:
			resting = resting && e.State == nil // Something else changed.
			return ""
		case q.Verb == "watch" || e.State == nil && !p.allReady() || p.mayChange():
			return ""
		}
		return "at rest, the operator sent: " + q.String() + " " + q.URI
	}
}

// allReady reports whether each Memcached is Ready.
func (p *past) allReady() bool {
	return !slices.ContainsFunc(p.memcacheds(), func(o *object) bool {
		return !isTrue(p.memcached(o), cachev1.ConditionReady)
	})
}

// mayChange reports whether a Memcached may be written at rest: a conflict may last, a deadline may pass, and what was
// refused may succeed.
func (p *past) mayChange() bool {
	return slices.ContainsFunc(p.memcacheds(), func(o *object) bool {
		switch conditionOf(p.memcached(o), cachev1.ConditionReady).Reason {
		case cachev1.ReasonAllPodsReady, cachev1.ReasonScaledToZero, cachev1.ReasonSuspended, cachev1.ReasonSecretNotFound,
			cachev1.ReasonInvalidSecret, cachev1.ReasonCertificateExpired:
			return false
		}
		return true
	})
}

// Bounds of repeated requests, by one process.
const (
	loopWindow = 10 * time.Second

	// mostAttempts of the same request in that time. What fails is tried again after pauses that grow from
	// milliseconds to 15 seconds.
	mostAttempts = 25

	// pauseWindow is the shortest pause in a conflict, and mostReverts how often the same may be applied in that time:
	// three times in a row, and once after the pause of an earlier conflict.
	pauseWindow = 14 * time.Second
	mostReverts = 4
)

func noHotLoop(p *past) func(history.Entry) string {
	type key struct {
		process history.Process
		what    string
		uid     types.UID
	}
	attempts, applied := map[key][]time.Time{}, map[key][]time.Time{}
	return func(e history.Entry) string {
		q := e.Request
		if e.State != nil {
			q = e.State.By
		}
		if q == nil || q.User.Username != p.operator || reads[q.Verb] || q.ObjectRef.Resource == "events" {
			return ""
		}
		what := key{process: history.ProcessOf(q), what: q.Verb + " " + q.URI + string(q.Body)}
		if recent(attempts, what, e.Time, loopWindow) > mostAttempts {
			return fmt.Sprintf("the operator sent this %d times within %v: %s %s", len(attempts[what]), loopWindow, q, q.URI)
		}
		o, _ := p.writes(e)
		if o == nil || q.Verb != "patch" || isJSONPatch(q) {
			return ""
		}
		what = key{process: history.ProcessOf(q), what: withoutVersion(q), uid: o.GetUID()}
		if recent(applied, what, e.Time, pauseWindow) > mostReverts {
			return fmt.Sprintf("the operator applied the same %s %s %d times within %v", o.GetKind(), o.GetName(),
				len(applied[what]), pauseWindow)
		}
		return ""
	}
}

// recent adds a time to those of a key, and returns how many are within a window before it.
func recent[K comparable](times map[K][]time.Time, key K, now time.Time, window time.Duration) int {
	kept := slices.DeleteFunc(times[key], func(at time.Time) bool { return now.Sub(at) > window })
	times[key] = append(kept, now)
	return len(times[key])
}

func withoutVersion(q *audit.Request) string {
	body := bodyOf(q)
	if body == nil {
		return string(q.Body)
	}
	body.SetResourceVersion("")
	return encoded(body.Object)
}
