package history

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

func TestAStateIsAttributedToTheRequestThatChangedSomething(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	// answered returns a request that was in progress between two seconds. The object in its answer says when each field
	// manager last wrote.
	answered := func(name string, from, to int, wrote map[string]int) *audit.Request {
		stored := object("a", "12")
		var fields []metav1.ManagedFieldsEntry
		for manager, second := range wrote {
			fields = append(fields, metav1.ManagedFieldsEntry{Manager: manager, Time: &metav1.Time{Time: at(second)}})
		}
		stored.SetManagedFields(fields)
		q := &audit.Request{
			Verb: "patch", URI: "/api/v1/pods/a?fieldManager=" + name + "&force=true", Received: at(from), Answered: at(to),
		}
		q.User.Username = name
		q.Stored, _ = json.Marshal(stored)
		return q
	}
	byProgram := answered("admin", 1, 5, map[string]int{"operator": 1, "kubectl": 3})
	byProgram.URI, byProgram.UserAgent = "/api/v1/pods/a", "kubectl/v1.34"
	deletes := func(q *audit.Request) *audit.Request { q.Verb = "delete"; return q }
	tests := map[string]struct {
		answered []*audit.Request
		want     string
	}{
		"one request": {[]*audit.Request{answered("admin", 1, 2, nil)}, "admin"},
		"one that began after the writer had its answer": {
			[]*audit.Request{answered("late", 2, 3, map[string]int{"late": 9}), answered("admin", 1, 2, nil)}, "admin",
		},
		"one that was answered before the writer": {
			[]*audit.Request{
				answered("operator", 2, 4, map[string]int{"operator": 1, "admin": 3}),
				answered("admin", 1, 5, map[string]int{"operator": 1, "admin": 3}),
			}, "admin",
		},
		"a writer that names no field manager": {
			[]*audit.Request{answered("operator", 2, 4, map[string]int{"operator": 1, "kubectl": 3}), byProgram}, "admin",
		},
		"two that wrote in the same second": {
			[]*audit.Request{
				answered("operator", 2, 4, map[string]int{"operator": 3, "admin": 3}),
				answered("admin", 1, 5, map[string]int{"operator": 3, "admin": 3}),
			}, "",
		},
		"two deletions": {
			[]*audit.Request{deletes(answered("second", 1, 4, nil)), deletes(answered("first", 1, 3, nil))}, "first",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if q := writerOf(tc.answered); q != nil {
				got = q.User.Username
			}
			if got != tc.want {
				t.Errorf("written by %q, want %q", got, tc.want)
			}
		})
	}
}
