package history

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

// join attributes the states to the requests that wrote them, and puts everything in order.
func join(entries []Entry, requests []audit.Request) []Entry {
	writes := map[string][]*audit.Request{} // by the keys of the state in their answer (stored)
	for i := range requests {
		if key := stored(&requests[i]); key != "" {
			writes[key] = append(writes[key], &requests[i])
		}
	}
	used := attribute(entries, writes)
	for _, answered := range writes {
		if entry, filled := fill(answered[0]); filled {
			entry.State.By = writerOf(answered)
			entries, used[entry.State.By] = append(entries, entry), true
		}
	}
	for i := range requests {
		requests[i].Stored = nil // It is part of a state now.
		if !used[&requests[i]] {
			entries = append(entries, Entry{Time: requests[i].Answered, Request: &requests[i]})
		}
	}
	return applyScales(order(entries))
}

// attribute sets the request that wrote each recorded state, and returns these requests. From writes, it removes all
// requests whose answer has a recorded state.
func attribute(entries []Entry, writes map[string][]*audit.Request) map[*audit.Request]bool {
	used := map[*audit.Request]bool{}
	for _, entry := range entries {
		if entry.State == nil {
			continue
		}
		for _, key := range keysOf(entry.State) {
			if answered := writes[key]; len(answered) > 0 {
				entry.State.By = writerOf(answered)
				used[entry.State.By] = true
			}
			delete(writes, key)
		}
	}
	return used
}

// fill returns the state in the answer to a write, if no watch has seen this state because the API server restarted.
func fill(by *audit.Request) (entry Entry, filled bool) {
	isRecorded := slices.ContainsFunc(resources, func(r schema.GroupVersionResource) bool {
		return r.Group == by.ObjectRef.APIGroup && r.Resource == by.ObjectRef.Resource
	})
	object := &unstructured.Unstructured{}
	if !isRecorded || !slices.Contains([]string{"", "status", "scale"}, by.ObjectRef.Subresource) ||
		strings.Contains(by.URI, "dryRun=") || object.UnmarshalJSON(by.Stored) != nil || object.GetResourceVersion() == "" {
		return entry, false
	}
	state := &State{Type: watch.Modified, Object: object}
	switch {
	case by.Response.Code == http.StatusCreated:
		state.Type = watch.Added
	case by.Verb == "delete" && object.GetDeletionTimestamp() == nil:
		state.Type = watch.Deleted
	}
	return Entry{Time: by.Answered, State: state}, true
}

// stored returns a key of the state that a request stored. It is empty for a request that stored nothing.
func stored(q *audit.Request) string {
	var object struct {
		Kind     string
		Metadata metav1.ObjectMeta
		Details  metav1.StatusDetails // of a Status, which is the answer to most deletions
	}
	if q.Response.Code >= 300 || json.Unmarshal(q.Stored, &object) != nil {
		return ""
	}
	if q.Verb == "delete" && object.Kind == "Status" {
		return deletion(object.Details.UID)
	}
	if object.Metadata.UID == "" {
		return ""
	}
	if q.Verb == "delete" && (object.Metadata.DeletionTimestamp == nil || object.Metadata.ResourceVersion == "") {
		return deletion(object.Metadata.UID) // The answer has no version if a Pod ends immediately.
	}
	return key(object.Metadata.UID, object.Metadata.ResourceVersion)
}

// keysOf returns the keys that stored may return for the request that wrote the state. The answer to a deletion has the
// object as it was before, or as it was when it was marked as deleted.
func keysOf(state *State) []string {
	keys := []string{key(state.Object.GetUID(), state.Object.GetResourceVersion())}
	if state.Type == watch.Deleted {
		keys = append(keys, deletion(state.Object.GetUID()))
	}
	return keys
}

func deletion(uid types.UID) string { return key(uid, "deleted") }

func key(uid types.UID, version string) string { return string(uid) + " " + version }

// order sorts states by their resource version, and places everything else by its time. The time of a state is when it
// was written, or when the watch delivered it, if that was earlier. If the audit log does not have the write, the time
// of the state is at most the time of the next state.
func order(entries []Entry) []Entry {
	var states, others []Entry
	for _, entry := range entries {
		if entry.State == nil {
			others = append(others, entry)
			continue
		}
		// On a busy machine, watches may deliver a state before its writer has the answer.
		if by := entry.State.By; by != nil && by.Answered.Before(entry.Time) {
			entry.Time = by.Answered
		}
		states = append(states, entry)
	}
	slices.SortStableFunc(states, func(a, b Entry) int { return cmp.Compare(version(a), version(b)) })
	for i := len(states) - 2; i >= 0; i-- {
		if later := states[i+1].Time; later.Before(states[i].Time) {
			states[i].Time = later
		}
	}
	slices.SortStableFunc(others, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	sorted := make([]Entry, 0, len(entries))
	for _, state := range states {
		for len(others) > 0 && others[0].Time.Before(state.Time) {
			sorted, others = append(sorted, others[0]), others[1:]
		}
		sorted = append(sorted, state)
	}
	return append(sorted, others...)
}

func version(e Entry) uint64 {
	version, _ := strconv.ParseUint(e.State.Object.GetResourceVersion(), 10, 64)
	return version
}
