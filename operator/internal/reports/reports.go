// Package reports reads how the memory of caches is used, from the agents in their Pods: of each autoscaled cache, one
// Pod a minute. They are few short requests to Pods, and none to the API server.
package reports

// Reads the Pods in turn, and remembers what they reported.

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/cached"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const (
	// mostAtATime is how many Pods are read at a time: those that do not answer take the whole timeout.
	mostAtATime = 16

	// sampled is how many Pods of a cache are read in turn, those that exist for longest: an agent forgets what it saw
	// unless it is read again within usage.Patience. Clients choose Pods by a hash, so a few speak for all.
	sampled = 5

	// remembered is how many reports of a cache are kept.
	remembered = 16
)

// Get reads the report of a Pod.
type Get func(context.Context, *corev1.Pod) (usage.Report, error)

// Reader reads the Pods of autoscaled caches. It runs in the leader only.
type Reader struct {
	cache    client.Reader
	get      Get
	interval time.Duration

	// Changed has each cache of which a Pod was read.
	Changed chan event.GenericEvent

	mu    sync.Mutex
	known map[types.NamespacedName]*reported
}

// reported is what is known of a cache.
type reported struct {
	turn    int
	problem string
	reports autoscale.Reports
}

// NewReader returns a Reader of Pods in the cache.
func NewReader(cache client.Reader, get Get, interval time.Duration) *Reader {
	return &Reader{
		cache: cache, get: get, interval: interval,
		Changed: make(chan event.GenericEvent, mostAtATime), known: map[types.NamespacedName]*reported{},
	}
}

// Of returns the last reports of a cache, the oldest first.
func (r *Reader) Of(name types.NamespacedName) autoscale.Reports {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[name]
	if known == nil {
		return autoscale.Reports{}
	}
	reports := known.reports
	reports.Seen = slices.Clone(reports.Seen)
	return reports
}

// Start reads the Pods until the context ends.
func (r *Reader) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		r.round(ctx, time.Now())
	}
	return nil
}

// round reads one Pod of each autoscaled cache, spread over the interval.
func (r *Reader) round(ctx context.Context, begins time.Time) {
	caches := r.autoscaled(ctx)
	r.forgetOthers(caches)
	free := make(chan struct{}, mostAtATime)
	var reading sync.WaitGroup
	for i, name := range caches {
		at := begins.Add(r.interval * time.Duration(i) / time.Duration(len(caches)))
		if !wait(ctx, at) {
			break
		}
		free <- struct{}{}
		reading.Go(func() {
			defer func() { <-free }()
			r.read(ctx, name)
		})
	}
	reading.Wait()
	wait(ctx, begins.Add(r.interval))
}

// wait reports whether a time has come before the context ends.
func wait(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// autoscaled returns the caches whose use is observed.
func (r *Reader) autoscaled(ctx context.Context) []types.NamespacedName {
	list := &cachev1.MemcachedList{}
	if err := r.cache.List(ctx, list, client.MatchingFields{Index: "true"}, client.UnsafeDisableDeepCopy); err != nil {
		if ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Autoscaled Memcacheds cannot be listed")
		}
		return nil
	}
	var caches []types.NamespacedName
	for i := range list.Items {
		caches = append(caches, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return caches
}

// Index finds the autoscaled Memcacheds.
const Index = "autoscaled"

var digits = regexp.MustCompile("[0-9]+")

// IndexOf returns the values of Index.
func IndexOf(object client.Object) []string {
	mc, ok := object.(*cachev1.Memcached)
	if !ok || !plan.AutoscalesMemory(mc.Spec) || mc.Spec.Suspend {
		return nil
	}
	return []string{"true"}
}

func (r *Reader) forgetOthers(caches []types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	current := map[types.NamespacedName]*reported{}
	for _, name := range caches {
		if current[name] = r.known[name]; current[name] == nil {
			current[name] = &reported{reports: autoscale.Reports{Since: time.Now()}}
		}
	}
	r.known = current
}

// read reads the next Pod of a cache.
func (r *Reader) read(ctx context.Context, name types.NamespacedName) {
	pod, err := r.next(ctx, name)
	var report usage.Report
	if err == nil {
		report, err = r.get(ctx, pod)
	}
	if ctx.Err() != nil {
		return
	}
	r.note(ctx, name, pod, report, err)
	mc := &cachev1.Memcached{}
	mc.Namespace, mc.Name = name.Namespace, name.Name
	select {
	case r.Changed <- event.GenericEvent{Object: mc}:
	case <-ctx.Done():
	}
}

// next returns the ready Pod of a cache whose turn it is.
func (r *Reader) next(ctx context.Context, name types.NamespacedName) (*corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := r.cache.List(ctx, pods, client.InNamespace(name.Namespace), client.MatchingFields{observe.PodIndex: name.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, err
	}
	r.forgetPods(name, pods.Items)
	ready := slices.DeleteFunc(slices.Clone(pods.Items), func(pod corev1.Pod) bool {
		return !cached.IsTrue(&pod, corev1.PodReady) || pod.DeletionTimestamp != nil || pod.Status.PodIP == ""
	})
	if len(ready) == 0 {
		return nil, errors.New("no Pod is ready")
	}
	slices.SortFunc(ready, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	ready = ready[:min(len(ready), sampled)]
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(name)
	known.turn, known.reports.Sampled = known.turn+1, len(ready)
	return &ready[known.turn%len(ready)], nil
}

// forgetPods forgets what deleted Pods reported.
func (r *Reader) forgetPods(name types.NamespacedName, pods []corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(name)
	known.reports.Seen = slices.DeleteFunc(known.reports.Seen, func(seen autoscale.Seen) bool {
		return !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.Name == seen.Report.Pod })
	})
}

// note remembers a report, and logs why there is none, once for each cause.
func (r *Reader) note(
	ctx context.Context, name types.NamespacedName, pod *corev1.Pod, report usage.Report, err error,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, problem := r.of(name), ""
	if err == nil {
		report.Pod = pod.Name
		seen := append(known.reports.Seen, autoscale.Seen{At: time.Now(), Report: report})
		known.reports.Seen = seen[max(0, len(seen)-remembered):]
	} else {
		problem = err.Error()
	}
	// Addresses and times differ from Pod to Pod.
	kind := digits.ReplaceAllString(problem, "")
	if problem != "" && kind != known.problem {
		log.FromContext(ctx).Info("A Pod does not report how its memory is used", "Memcached", name, "reason", problem)
	}
	known.problem = kind
}

// of returns what is known of a cache.
func (r *Reader) of(name types.NamespacedName) *reported {
	if r.known[name] == nil {
		r.known[name] = &reported{}
	}
	return r.known[name]
}
