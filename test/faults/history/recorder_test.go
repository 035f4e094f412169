package history

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/proxy"
)

func after(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func TestWhatTheOperatorWritesElsewhereBelongsToTheRun(t *testing.T) {
	r := &Recorder{namespace: "run", operator: "operator", began: after(10)}
	request := func(verb, user, namespace string, started int) audit.Request {
		q := audit.Request{Verb: verb, Received: after(20)}
		q.User.Username, q.ObjectRef.Namespace = user, namespace
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
