package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

func line(e Entry) string {
	if e.State == nil {
		return strings.TrimSpace(e.Step + " " + verb(e.Request))
	}
	by := ""
	if e.State.By != nil {
		by = " by " + e.State.By.User.Username
	}
	if size, is, _ := unstructured.NestedInt64(e.State.Object.Object, "spec", "size"); is {
		by += fmt.Sprintf(", size %d", size)
	}
	return fmt.Sprintf("%s %s %s%s", e.State.Type, e.State.Object.GetName(), e.State.Object.GetResourceVersion(), by)
}

func verb(q *audit.Request) string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("%s %d by %s", q.Verb, q.Response.Code, q.User.Username)
}

// TestStatesAreJoinedWithTheAuditLog: states that a watch has seen get their writer from the audit log. States that no
// watch has seen are taken from the audit log.
func TestStatesAreJoinedWithTheAuditLog(t *testing.T) {
	request := func(second int, user, verb string, code int, stored *unstructured.Unstructured) audit.Request {
		q := audit.Request{Verb: verb, Received: after(second), Answered: after(second)}
		q.User.Username, q.Response.Code = user, code
		q.ObjectRef.Resource = "pods"
		q.Stored, _ = json.Marshal(stored)
		return q
	}
	stateOf := func(second int, kind watch.EventType, o *unstructured.Unstructured) Entry {
		return Entry{Time: after(second), State: &State{Type: kind, Object: o}}
	}
	evicted := request(5, "evictor", "create", 201, object("a", "12"))
	evicted.ObjectRef.Subresource = "eviction"
	tried := request(5, "tester", "patch", 200, object("a", "12"))
	tried.URI = "/api/v1/namespaces/x/pods/a?dryRun=All"
	marked := object("a", "12")
	marked.SetDeletionTimestamp(&metav1.Time{Time: after(1)})
	ended := marked.DeepCopy()
	ended.SetResourceVersion("")
	scale := func(second int, version string, size int64) audit.Request {
		stored := object("a", version)
		stored.SetKind("Scale")
		_ = unstructured.SetNestedField(stored.Object, size, "spec", "replicas")
		q := request(second, "autoscaler", "update", 200, stored)
		q.ObjectRef.Subresource = "scale"
		return q
	}
	sized := object("a", "11")
	sized.SetKind("Memcached")
	answered := request(1, "deleter", "delete", 200, &unstructured.Unstructured{Object: map[string]any{
		"kind": "Status", "details": map[string]any{"uid": string(object("a", "").GetUID())},
	}})
	tests := map[string]struct {
		entries  []Entry
		requests []audit.Request
		want     []string
	}{
		"a deletion is attributed to the request, whatever its version": {
			[]Entry{stateOf(2, watch.Deleted, object("a", "12"))},
			[]audit.Request{request(1, "deleter", "delete", 200, object("a", "11"))},
			[]string{"DELETED a 12 by deleter"},
		},
		"a deletion is attributed to the request that is answered with a status": {
			[]Entry{stateOf(2, watch.Deleted, object("a", "12"))}, []audit.Request{answered}, []string{"DELETED a 12 by deleter"},
		},
		"a deletion in the background stores a state": {
			[]Entry{stateOf(2, watch.Modified, marked), stateOf(3, watch.Deleted, object("a", "13"))},
			[]audit.Request{request(1, "deleter", "delete", 200, marked)},
			[]string{"MODIFIED a 12 by deleter", "DELETED a 13"},
		},
		"a state belongs to the request that stored it, and not to one that changed nothing": {
			[]Entry{stateOf(1, watch.Added, object("a", "11"))},
			[]audit.Request{request(0, "creator", "create", 201, object("a", "11")), request(5, "patcher", "patch", 200, object("a", "11"))},
			[]string{"ADDED a 11 by creator", "patch 200 by patcher"},
		},
		"a state that is delivered late was before the next": {
			[]Entry{
				{Time: after(3), Step: "step"},
				stateOf(9, watch.Added, object("a", "11")), stateOf(9, watch.Modified, object("a", "12")),
			},
			[]audit.Request{request(2, "patcher", "patch", 200, object("a", "12"))},
			[]string{"ADDED a 11", "MODIFIED a 12 by patcher", "step"},
		},
		"a deletion is attributed to the request that ended a Pod immediately": {
			[]Entry{stateOf(2, watch.Deleted, marked)}, []audit.Request{request(1, "kubelet", "delete", 200, ended)},
			[]string{"DELETED a 12 by kubelet"},
		},
		"a state that a watch delivered before its writer had the answer": {
			[]Entry{stateOf(2, watch.Modified, object("a", "12"))},
			[]audit.Request{request(4, "writer", "patch", 200, object("a", "12")), request(3, "operator", "delete", 403, nil)},
			[]string{"MODIFIED a 12 by writer", "delete 403 by operator"},
		},
		"a state that no watch has seen is that of the request": {
			[]Entry{stateOf(9, watch.Modified, object("a", "14"))},
			[]audit.Request{
				request(1, "creator", "patch", 201, object("a", "11")), request(2, "patcher", "patch", 200, object("a", "12")),
				request(3, "deleter", "delete", 200, object("b", "13")),
			},
			[]string{"ADDED a 11 by creator", "MODIFIED a 12 by patcher", "DELETED b 13 by deleter", "MODIFIED a 14"},
		},
		"a scale that no watch has seen changes the size": {
			[]Entry{stateOf(1, watch.Added, sized)}, []audit.Request{scale(2, "12", 4), scale(3, "13", 2)},
			[]string{"ADDED a 11", "MODIFIED a 12 by autoscaler, size 4", "MODIFIED a 13 by autoscaler, size 2"},
		},
		"a scale of an object that no watch has seen": {nil, []audit.Request{scale(2, "12", 4)}, nil},
		"a deletion that no watch has seen, and whose answer has no version, is a request": {
			nil, []audit.Request{request(1, "kubelet", "delete", 200, ended)}, []string{"delete 200 by kubelet"},
		},
		"a refused request stores nothing": {
			nil, []audit.Request{request(1, "patcher", "patch", 409, object("a", "12"))}, []string{"patch 409 by patcher"},
		},
		"another subresource stores another kind of object": {nil, []audit.Request{evicted}, []string{"create 201 by evictor"}},
		"a dry run stores nothing":                          {nil, []audit.Request{tried}, []string{"patch 200 by tester"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, entry := range join(tc.entries, tc.requests) {
				got = append(got, line(entry))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}
