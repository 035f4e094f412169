// Package reports reads how caches are used, from the agents in their Pods: each minute, it asks one Pod of each cache
// with spec.autoscaling. This takes few short requests to Pods, and none to the API server.
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
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

const (
	// mostAtATime is how many Pods are read at a time, in addition to those that hang.
	mostAtATime = 16

	// sampled is how many Pods of a cache are read, one after another: the oldest. More would be read too rarely,
	// because an agent forgets its observations unless it is read again within usage.Patience. Clients choose Pods with
	// a hash, so a few Pods represent all.
	sampled = 5

	// remembered is how many reports of a cache are kept.
	remembered = 16

	// apart is the least time between two reports that are compared with the usual day.
	apart = 5 * time.Second
)

// Get reads the report of a Pod. The argument curve says whether the report needs a curve.
type Get func(ctx context.Context, pod *corev1.Pod, curve bool) (usage.Report, error)

// Reader reads the Pods of caches whose use is observed. It runs in the leader only.
type Reader struct {
	cache    client.Reader
	get      Get
	interval time.Duration

	// Changed receives each cache of which a Pod was read.
	Changed chan event.GenericEvent

	mu    sync.Mutex
	known map[types.NamespacedName]*reported
}

// reported has the reports of a cache.
type reported struct {
	turn    int
	problem string
	usage   plan.Usage
}

// NewReader returns a Reader of Pods in the cache.
func NewReader(cache client.Reader, get Get, interval time.Duration) *Reader {
	return &Reader{
		cache: cache, get: get, interval: interval,
		Changed: make(chan event.GenericEvent, mostAtATime), known: map[types.NamespacedName]*reported{},
	}
}

// Of returns the reports of a cache, the oldest first.
func (r *Reader) Of(name types.NamespacedName) plan.Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[name]
	if known == nil {
		return plan.Usage{}
	}
	reported := known.usage
	reported.Reports.Seen, reported.Moments = slices.Clone(reported.Reports.Seen), slices.Clone(reported.Moments)
	return reported
}

// Start reads the Pods until the context ends.
func (r *Reader) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		r.round(ctx, time.Now())
	}
	return nil
}

// round reads one Pod of each of these caches, spread over the interval.
func (r *Reader) round(ctx context.Context, begins time.Time) {
	caches := r.observed(ctx)
	r.forgetOthers(caches)
	// If no Pod answers, this many Pods wait for their timeout at a time.
	hanging := int(int64(len(caches)) * int64(timeout) / int64(r.interval))
	free := make(chan struct{}, mostAtATime+hanging)
	var reading sync.WaitGroup
	for i, cache := range caches {
		at := begins.Add(r.interval * time.Duration(i) / time.Duration(len(caches)))
		if !wait(ctx, at) {
			break
		}
		free <- struct{}{}
		reading.Go(func() {
			defer func() { <-free }()
			r.read(ctx, cache)
		})
	}
	reading.Wait()
	wait(ctx, begins.Add(r.interval))
}

// wait waits until this time. It returns false if the context ends before.
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

// observed is a cache whose use is observed.
type observed struct {
	types.NamespacedName

	curve bool // is needed
}

// observed returns the caches whose use is observed.
func (r *Reader) observed(ctx context.Context) []observed {
	list := &cachev1.MemcachedList{}
	if err := r.cache.List(ctx, list, client.MatchingFields{Index: "true"}, client.UnsafeDisableDeepCopy); err != nil {
		if ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Memcacheds whose use is observed cannot be listed")
		}
		return nil
	}
	var caches []observed
	for i := range list.Items {
		mc := &list.Items[i]
		caches = append(caches, observed{client.ObjectKeyFromObject(mc), plan.NeedsCurve(mc.Spec)})
	}
	return caches
}

// Index is the name of the index that finds the Memcacheds whose use is observed.
const Index = "autoscaled"

var digits = regexp.MustCompile("[0-9]+")

// IndexOf returns the values of Index.
func IndexOf(object client.Object) []string {
	mc, ok := object.(*cachev1.Memcached)
	if !ok || !plan.ObservesUse(mc.Spec) || mc.Spec.Suspend {
		return nil
	}
	return []string{"true"}
}

func (r *Reader) forgetOthers(caches []observed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	current := map[types.NamespacedName]*reported{}
	for _, cache := range caches {
		name := cache.NamespacedName
		if current[name] = r.known[name]; current[name] == nil {
			current[name] = &reported{usage: plan.Usage{Reports: autoscale.Reports{Since: time.Now()}}}
		}
	}
	r.known = current
}

// read reads the next Pod of a cache.
func (r *Reader) read(ctx context.Context, cache observed) {
	name := cache.NamespacedName
	pod, err := r.next(ctx, name)
	var report usage.Report
	if err == nil {
		report, err = r.get(ctx, pod, cache.curve)
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
	known.turn, known.usage.Reports.Sampled = known.turn+1, len(ready)
	return &ready[known.turn%len(ready)], nil
}

// forgetPods forgets the reports of deleted Pods.
func (r *Reader) forgetPods(name types.NamespacedName, pods []corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(name)
	known.usage.Reports.Seen = slices.DeleteFunc(known.usage.Reports.Seen, func(seen autoscale.Seen) bool {
		return !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.Name == seen.Report.Pod })
	})
}

// note remembers a report. If the Pod sent no report, note logs the cause, unless the last cause was the same.
func (r *Reader) note(
	ctx context.Context, name types.NamespacedName, pod *corev1.Pod, report usage.Report, err error,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, problem := r.of(name), ""
	if err == nil {
		report.Pod = pod.Name
		known.add(report, time.Now())
	} else {
		problem = err.Error()
	}
	// The numbers in addresses and times differ from Pod to Pod.
	kind := digits.ReplaceAllString(problem, "")
	if problem != "" && kind != known.problem {
		log.FromContext(ctx).Info("A Pod does not report how it is used", "Memcached", name, "reason", problem)
	}
	known.problem = kind
}

// add remembers a report, and the values that are compared with the usual day.
func (r *reported) add(report usage.Report, now time.Time) {
	seen := append(r.usage.Reports.Seen, autoscale.Seen{At: now, Report: report})
	r.usage.Reports.Seen = seen[max(0, len(seen)-remembered):]
	moments := r.usage.Moments
	if last := len(moments) - 1; last >= 0 && now.Sub(moments[last].At) < apart {
		return
	}
	moments = slices.DeleteFunc(moments, func(m usual.Moment) bool { return now.Sub(m.At) > usual.Kept })
	r.usage.Moments = append(moments, usual.MomentOf(now, report))
}

// of returns the reports of a cache.
func (r *Reader) of(name types.NamespacedName) *reported {
	if r.known[name] == nil {
		r.known[name] = &reported{}
	}
	return r.known[name]
}
