package history

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/proxy"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// state is a state of an object with the uid u, as a watch delivered it.
func state(seconds int, event watch.EventType, version int) Entry {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetUID(types.UID("u"))
	o.SetResourceVersion(strconv.Itoa(version))
	return Entry{Time: after(seconds), State: &State{Type: event, Object: o}}
}

func answer(seconds int, verb, user, stored string) audit.Request {
	q := audit.Request{Verb: verb, Received: after(seconds), Answered: after(seconds), Stored: json.RawMessage(stored)}
	q.User.Username, q.Response.Code = user, 200
	return q
}

func TestStatesAreAttributedAndOrdered(t *testing.T) {
	const version1, version2 = `{"metadata":{"uid":"u","resourceVersion":"1"}}`, `{"metadata":{"uid":"u","resourceVersion":"2"}}`
	tests := map[string]struct {
		entries  []Entry
		requests []audit.Request
		want     []string
	}{
		"a state belongs to the request that stored it, and not to one that changed nothing": {
			[]Entry{state(1, watch.Added, 1)},
			[]audit.Request{answer(0, "create", "a", version1), answer(5, "patch", "b", version1)},
			[]string{"0s state 1 by a", "5s request of b"},
		},
		"a deletion is answered with a status": {
			[]Entry{state(1, watch.Deleted, 2)},
			[]audit.Request{answer(0, "delete", "a", `{"kind":"Status","details":{"uid":"u"}}`)},
			[]string{"0s state 2 by a"},
		},
		"a deletion in the background stores a state": {
			[]Entry{state(1, watch.Modified, 1), state(3, watch.Deleted, 2)},
			[]audit.Request{answer(0, "delete", "a",
				`{"metadata":{"uid":"u","resourceVersion":"1","deletionTimestamp":"2026-01-01T00:00:00Z"}}`)},
			[]string{"0s state 1 by a", "3s state 2 by ?"},
		},
		"a state that is delivered late was before the next": {
			[]Entry{{Time: after(3), Step: "step"}, state(9, watch.Added, 1), state(9, watch.Modified, 2)},
			[]audit.Request{answer(2, "patch", "a", version2)},
			[]string{"2s state 1 by ?", "2s state 2 by a", "3s step"},
		},
		"a request that failed stored nothing": {
			[]Entry{state(1, watch.Added, 1)},
			[]audit.Request{{Verb: "patch", Answered: after(2), Stored: json.RawMessage(version1), Response: struct{ Code int }{500}}},
			[]string{"1s state 1 by ?", "2s request of "},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range join(tc.entries, tc.requests) {
				got = append(got, e.Time.Sub(start).String()+" "+short(e))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func short(e Entry) string {
	switch {
	case e.State != nil && e.State.By != nil:
		return "state " + e.State.Object.GetResourceVersion() + " by " + e.State.By.User.Username
	case e.State != nil:
		return "state " + e.State.Object.GetResourceVersion() + " by ?"
	case e.Request != nil:
		return "request of " + e.Request.User.Username
	}
	return e.Step
}

func TestWhatTheOperatorWritesElsewhereBelongsToTheRun(t *testing.T) {
	r := &Recorder{namespace: "run", operator: "operator", began: after(10)}
	request := func(verb, user, namespace string, started int) audit.Request {
		q := answer(20, verb, user, "")
		q.ObjectRef.Namespace = namespace
		q.UserAgent = "client" + proxy.Mark + after(started).Format(time.RFC3339Nano)
		return q
	}
	tests := map[string]struct {
		request audit.Request
		want    bool
	}{
		"in its namespace":               {request("get", "user", "run", 0), true},
		"a write in another namespace":   {request("patch", "operator", "other", 11), true},
		"a write in no namespace":        {request("delete", "operator", "", 11), true},
		"a read in no namespace":         {request("list", "operator", "", 11), false},
		"a user in another namespace":    {request("patch", "user", "other", 11), false},
		"the operator of an earlier run": {request("patch", "operator", "earlier", 9), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := r.belongs(tc.request); got != tc.want {
				t.Errorf("belongs() = %v, want %v", got, tc.want)
			}
		})
	}
}
