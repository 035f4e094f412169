package model

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/test/faults/history"
)

// These constants bound how often one process may repeat a request.
const (
	loopWindow = 10 * time.Second

	// mostAttempts is how often the same write may be sent within loopWindow. The operator tries a failed write again
	// after pauses that grow from milliseconds to 15 seconds.
	mostAttempts = 25

	// mostStatuses is how often the status of a Memcached may be written within loopWindow. It is large, because each
	// change to the spec, to a Secret or to one of the few Pods may need a write.
	mostStatuses = 100

	// mostReads is how often the same object may be read within loopWindow. It is large, because the operator repeats the
	// read of a missing Secret whenever something else changes.
	mostReads = 100

	// pauseWindow is the shortest pause in a conflict with another client. mostReverts is how often the operator may apply
	// the same body within that time: three times in a row, and once after the pause of an earlier conflict.
	pauseWindow = 14 * time.Second
	mostReverts = 4
)

// loops looks for requests that are repeated without a pause.
type loops struct {
	*past

	sent    map[sending][]time.Time
	applied map[applying]applications
}

// sending is a request that one process repeats.
type sending struct {
	process history.Process
	what    string
}

// applying is a process that applies an object as a field manager.
type applying struct {
	process history.Process
	uid     types.UID
	manager string
}

// applications counts consecutive applies of the same body.
type applications struct {
	body string
	at   []time.Time
}

func (l *loops) check(e history.Entry) string {
	q := requestOf(e)
	if q == nil || q.User.Username != l.operator || q.Verb == "watch" || q.ObjectRef.Resource == "events" {
		return ""
	}
	what, most := repetition(q)
	key := sending{history.ProcessOf(q), what}
	if l.sent[key] = recent(l.sent[key], e.Time, loopWindow); len(l.sent[key]) > most {
		return fmt.Sprintf("the operator sent this %d times within %v: %s %s", len(l.sent[key]), loopWindow, q, q.URI)
	}
	o, _ := l.writes(e)
	if o == nil || q.Verb != "patch" || isJSONPatch(q) {
		return ""
	}
	if times := l.apply(o, q, e.Time); times > mostReverts {
		return fmt.Sprintf("the operator applied the same %s %s %d times within %v", o.GetKind(), o.GetName(), times,
			pauseWindow)
	}
	return ""
}

// repetition returns a text that is the same for all repetitions of a request, and how many repetitions are allowed.
func repetition(q *audit.Request) (what string, most int) {
	what = q.Verb + " " + q.URI
	switch {
	case reads[q.Verb]:
		return what, mostReads
	case q.ObjectRef.Resource == "memcacheds": // Count all writes, because the body may differ each time.
		return what, mostStatuses
	}
	return what + string(q.Body), mostAttempts
}

// apply records an apply, and returns how often the same body was applied within pauseWindow. Only consecutive applies
// of the same body count, because the operator pauses only after these.
func (l *loops) apply(o *object, q *audit.Request, now time.Time) int {
	key := applying{history.ProcessOf(q), o.GetUID(), q.FieldManager()}
	before, body := l.applied[key], withoutVersion(q)
	if before.body != body {
		before = applications{body: body}
	}
	before.at = recent(before.at, now, pauseWindow)
	l.applied[key] = before
	return len(before.at)
}

// recent adds the time now, and removes the times that are longer ago than the window.
func recent(times []time.Time, now time.Time, window time.Duration) []time.Time {
	return append(slices.DeleteFunc(times, func(at time.Time) bool { return now.Sub(at) > window }), now)
}

func withoutVersion(q *audit.Request) string {
	body := bodyOf(q)
	if body == nil {
		return string(q.Body)
	}
	body.SetResourceVersion("")
	return encoded(body.Object)
}
