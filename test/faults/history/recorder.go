package history

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/consistency"
)

// resources are the resources whose states are recorded.
var resources = []schema.GroupVersionResource{
	{Group: "cache.example.com", Version: "v1", Resource: "memcacheds"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "secrets"}, // without their content
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}, // without those of Kubernetes' controller
}

// selectors exclude some objects of these resources.
var selectors = map[string]string{
	"endpointslices": "endpointslice.kubernetes.io/managed-by!=endpointslice-controller.k8s.io",
}

// Recorder records the history of a namespace.
type Recorder struct {
	namespace, operator string
	began               time.Time
	log                 Log
	offset              int64

	mu      sync.Mutex
	entries []Entry

	followers []*follower
	stop      context.CancelFunc
	done      sync.WaitGroup
}

// Log is the API server's audit log, an audit.Log or one that several recorders share.
type Log interface {
	End() (int64, error)
	Read(offset int64) (requests []audit.Request, end int64, err error)
}

// Start begins to record what happens in a namespace from now on.
func Start(ctx context.Context, config *rest.Config, log Log, namespace, operator string) (*Recorder, error) {
	r := &Recorder{namespace: namespace, operator: operator, began: time.Now(), log: log}
	var err error
	if r.offset, err = log.End(); err != nil {
		return nil, err
	}
	kube, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, r.stop = context.WithCancel(ctx)
	for _, resource := range resources {
		all := kube.Resource(resource).Namespace(namespace)
		f := &follower{source: selected{all, selectors[resource.Resource]}, add: r.add}
		if err := f.start(ctx); err != nil {
			r.stop()
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		r.followers = append(r.followers, f)
		r.done.Go(func() { f.run(ctx) })
	}
	return r, nil
}

// Step records a step of the plan, or a phase.
func (r *Recorder) Step(text string) { r.add(Entry{Time: time.Now(), Step: text}) }

// Access records a request of a memcached client.
func (r *Recorder) Access(access consistency.Access) {
	r.add(Entry{Time: access.Ended, Access: &access})
}

// Delayed records that something held up an operator until now.
func (r *Recorder) Delayed(what string, began time.Time) {
	now := time.Now()
	r.add(Entry{Time: now, Delay: &Delay{Began: began, Ended: now, What: what}})
}

func (r *Recorder) add(entry Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, entry)
}

// catchUp is how long Stop waits for what the watches have not delivered yet.
const catchUp = 10 * time.Second

// Stop ends the recording and returns the history.
func (r *Recorder) Stop(ctx context.Context) (*History, error) {
	// If the watches cannot catch up, the history has only what they delivered.
	_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, catchUp, true, r.hasCaughtUp)
	r.stop()
	r.done.Wait()
	requests, _, err := r.log.Read(r.offset)
	if err != nil {
		return nil, err
	}
	requests = slices.DeleteFunc(requests, func(q audit.Request) bool { return !r.belongs(q) })
	r.mu.Lock()
	defer r.mu.Unlock() // Processes of the operator may still end.
	return &History{Namespace: r.namespace, Operator: r.operator, Entries: join(slices.Clone(r.entries), requests)}, nil
}

// belongs reports whether a request belongs to this run: because it is in the namespace of the run, or because the
// operator of this run tries to change an object elsewhere, for which it has no right. A request that the operator of
// an earlier run sent last may be answered during this run, and does not belong to it.
func (r *Recorder) belongs(q audit.Request) bool {
	if q.ObjectRef.Namespace == r.namespace {
		return true
	}
	reads := q.Verb == "get" || q.Verb == "list" || q.Verb == "watch"
	return q.User.Username == r.operator && !reads && ProcessOf(&q).Started().After(r.began)
}

// hasCaughtUp reports whether the watches have delivered the current objects.
func (r *Recorder) hasCaughtUp(ctx context.Context) (bool, error) {
	existing := map[string]bool{}
	for _, follower := range r.followers {
		list, err := follower.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, nil //nolint:nilerr // the API server may be about to start
		}
		for i := range list.Items {
			existing[key(list.Items[i].GetUID(), list.Items[i].GetResourceVersion())] = true
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
		recorded[o.GetUID()] = key(o.GetUID(), o.GetResourceVersion())
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
