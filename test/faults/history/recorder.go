package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
)

// resources whose states are recorded.
var resources = []schema.GroupVersionResource{
	{Group: "cache.example.com", Version: "v1", Resource: "memcacheds"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "pods"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
}

// Recorder records the history of a namespace.
type Recorder struct {
	namespace, operator string
	log                 audit.Log
	offset              int64

	mu       sync.Mutex
	entries  []Entry
	watchers []*toolswatch.RetryWatcher
	done     sync.WaitGroup
	watched  []dynamic.ResourceInterface
}

// Start begins to record what happens in a namespace from now on.
func Start(ctx context.Context, config *rest.Config, log audit.Log, namespace, operator string) (*Recorder, error) {
	r := &Recorder{namespace: namespace, operator: operator, log: log}
	var err error
	if r.offset, err = log.End(); err != nil {
		return nil, err
	}
	kube, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	for _, resource := range resources {
		if err := r.watch(ctx, kube.Resource(resource).Namespace(namespace)); err != nil {
			return nil, fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
	}
	return r, nil
}

// watch records the states of a resource. The watch survives a restart of the API server: it goes on where it was.
func (r *Recorder) watch(ctx context.Context, resource dynamic.ResourceInterface) error {
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	source := &cache.ListWatch{WatchFuncWithContext: resource.Watch}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), source)
	if err != nil {
		return err
	}
	r.watchers, r.watched = append(r.watchers, watcher), append(r.watched, resource)
	r.done.Go(func() {
		for event := range watcher.ResultChan() {
			if object, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Bookmark {
				r.add(Entry{Time: time.Now(), State: &State{Type: event.Type, Object: object}})
			}
		}
	})
	return nil
}

// Step records a step of the plan, or a phase.
func (r *Recorder) Step(text string) { r.add(Entry{Time: time.Now(), Step: text}) }

// Access records a request of a memcached client.
func (r *Recorder) Access(access Access) { r.add(Entry{Time: access.Ended, Access: &access}) }

func (r *Recorder) add(entry Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, entry)
}

// catchUp is how long Stop waits for what the watches have not delivered yet.
const catchUp = 10 * time.Second

// Stop ends the recording and returns the history.
func (r *Recorder) Stop(ctx context.Context) (*History, error) {
	// If the watches can not catch up, the history is that of what they delivered.
	_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, catchUp, true, r.hasCaughtUp)
	for _, watcher := range r.watchers {
		watcher.Stop()
	}
	r.done.Wait()
	requests, _, err := r.log.Read(r.offset)
	if err != nil {
		return nil, err
	}
	requests = slices.DeleteFunc(requests, func(q audit.Request) bool { return q.ObjectRef.Namespace != r.namespace })
	return &History{Namespace: r.namespace, Operator: r.operator, Entries: join(r.entries, requests)}, nil
}

// hasCaughtUp reports whether the watches have delivered the objects as they are now.
func (r *Recorder) hasCaughtUp(ctx context.Context) (bool, error) {
	existing := map[string]bool{}
	for _, resource := range r.watched {
		list, err := resource.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, nil //nolint:nilerr // the API server may be about to start
		}
		for i := range list.Items {
			existing[keyOf(list.Items[i].GetUID(), list.Items[i].GetResourceVersion())] = true
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	recorded := map[types.UID]string{}
	for _, entry := range r.entries {
		if entry.State == nil {
			continue
		}
		o := entry.State.Object
		recorded[o.GetUID()] = keyOf(o.GetUID(), o.GetResourceVersion())
		if entry.State.Type == watch.Deleted {
			delete(recorded, o.GetUID())
		}
	}
	return maps.Equal(existing, values(recorded)), nil
}

func values(recorded map[types.UID]string) map[string]bool {
	keys := map[string]bool{}
	for _, key := range recorded {
		keys[key] = true
	}
	return keys
}

// join attributes the states to the requests that wrote them, and puts everything in order.
func join(entries []Entry, requests []audit.Request) []Entry {
	writes := map[string]*audit.Request{} // by what the request stored
	for i := range requests {
		if key := stored(&requests[i]); key != "" && writes[key] == nil { // A later one changed nothing.
			writes[key] = &requests[i]
		}
	}
	used := map[*audit.Request]bool{}
	for _, entry := range entries {
		if entry.State == nil {
			continue
		}
		o := entry.State.Object
		key := keyOf(o.GetUID(), o.GetResourceVersion())
		if entry.State.Type == watch.Deleted {
			key = deletion(string(o.GetUID()))
		}
		if by := writes[key]; by != nil {
			entry.State.By, used[by] = by, true
			by.Stored = nil // It is the state.
		}
	}
	for i := range requests {
		if !used[&requests[i]] {
			requests[i].Stored = nil // A state before has it.
			entries = append(entries, Entry{Time: requests[i].Answered, Request: &requests[i]})
		}
	}
	return order(entries)
}

// stored is empty for a request that stored nothing.
func stored(q *audit.Request) string {
	var object struct {
		Kind     string
		Metadata metav1.ObjectMeta
		Details  metav1.StatusDetails // of a Status, which answers most deletions
	}
	if q.Response.Code >= 300 || json.Unmarshal(q.Stored, &object) != nil {
		return ""
	}
	if q.Verb == "delete" && object.Kind == "Status" {
		return deletion(string(object.Details.UID))
	}
	if object.Metadata.UID == "" {
		return ""
	}
	if q.Verb == "delete" && object.Metadata.DeletionTimestamp == nil {
		return deletion(string(object.Metadata.UID))
	}
	return keyOf(object.Metadata.UID, object.Metadata.ResourceVersion)
}

func deletion(uid string) string { return uid + " deleted" }

func keyOf[UID ~string](uid UID, version string) string { return string(uid) + " " + version }

// order sorts states by resource version, and places everything else by its time: a state counts from when it was
// written, not from when the watch delivered it. Where the audit log lacks the write, it was before any later state.
func order(entries []Entry) []Entry {
	var states, others []Entry
	for _, entry := range entries {
		if entry.State == nil {
			others = append(others, entry)
			continue
		}
		if by := entry.State.By; by != nil {
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
