package controller

// Orders the updates of caches with updatePolicy Automatic.

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/metrics"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// phase is the progress of a cache's update to the operator's defaults.
type phase int

const (
	// unseen: not reconciled since the operator started, or since its defaults changed.
	unseen phase = iota

	// settled: no update is pending, or the pending update cannot be applied.
	settled

	// queued: an update is pending, and waits for the updates of other caches.
	queued

	// updating: the update may be applied; this ends when the cache is Ready.
	updating
)

// entry is the progress of one cache with updatePolicy Automatic.
type entry struct {
	uid   types.UID
	phase phase

	// unready: the cache was not Ready before its update. So the update has not failed if the cache is not Ready
	// afterwards.
	unready bool

	// stops: the update failed, and no other cache is updated.
	stops bool
}

// updateQueue orders the updates of caches with updatePolicy Automatic after an upgrade of the operator: it limits how
// many caches are updated at a time. Caches that are Ready come first, in the order of namespace and name.
type updateQueue struct {
	most int

	// changed signals that another cache may be next. It holds at most one event, because its handler examines all
	// caches.
	changed chan event.GenericEvent

	mu      sync.Mutex
	entries map[types.NamespacedName]*entry
}

func newUpdateQueue(most int) *updateQueue {
	return &updateQueue{
		most: most, changed: make(chan event.GenericEvent, 1), entries: map[types.NamespacedName]*entry{},
	}
}

// news tracks the caches with updatePolicy Automatic, and filters no events. It has seen all existing Memcacheds before
// the workers start.
func (w *updateQueue) news() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return w.follow(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return w.follow(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.drop(client.ObjectKeyFromObject(e.Object))
			return true
		},
	}
}

func (w *updateQueue) follow(object client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	mc, key := object.(*cachev1.Memcached), client.ObjectKeyFromObject(object)
	known := w.entries[key]
	switch {
	case mc.Spec.UpdatePolicy != cachev1.UpdateAutomatic, mc.Spec.Suspend, !mc.DeletionTimestamp.IsZero():
		w.drop(key)
	case known == nil || known.uid != mc.UID:
		w.entries[key] = &entry{uid: mc.UID}
	}
	return true
}

// drop removes a cache that was deleted or suspended, or has another updatePolicy.
func (w *updateQueue) drop(key types.NamespacedName) {
	if _, known := w.entries[key]; known {
		delete(w.entries, key)
		w.wake()
	}
}

// restart makes the queue wait until each cache was reconciled again, because the operator's defaults changed.
func (w *updateQueue) restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, entry := range w.entries {
		if entry.phase != updating {
			entry.phase = unseen
		}
	}
}

// candidate describes a cache to the queue.
type candidate struct {
	memcached *cachev1.Memcached

	// planned: the spec is valid. pending: an update of the cache waits. usable: new Pods can start with the Secrets
	// that the spec names.
	planned, pending, usable bool

	// complete: the Deployment has all its Pods, ready and with its current template. The status may not show that yet.
	complete bool
}

// candidate describes a cache to the queue. The draft does not include the update.
func (c *reconciliation) candidate(draft plan.Draft) candidate {
	return candidate{
		memcached: c.memcached, planned: draft.IsValid(), pending: draft.IsPending(), usable: c.snapshot.Usable(),
		complete: isComplete(c.snapshot.Deployment()),
	}
}

// isComplete reports whether a Deployment has all its Pods, ready and with its current template.
func isComplete(live *appsv1.Deployment) bool {
	if live == nil || live.Spec.Replicas == nil || live.Status.ObservedGeneration < live.Generation {
		return false
	}
	size, now := *live.Spec.Replicas, live.Status
	return now.Replicas == size && now.UpdatedReplicas == size &&
		now.ReadyReplicas == size && now.AvailableReplicas == size
}

// isReady reports whether a cache was Ready and still has all its Pods.
func (c candidate) isReady() bool {
	return c.complete && meta.IsStatusConditionTrue(c.memcached.Status.Conditions, cachev1.ConditionReady)
}

// enter returns the progress of a cache; while it is updating, its update may be applied.
func (w *updateQueue) enter(c candidate) entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := client.ObjectKeyFromObject(c.memcached)
	its := w.entries[key]
	if its == nil || its.uid != c.memcached.UID {
		return entry{}
	}
	before := its.phase
	switch {
	case before == updating:
	case wasUpdating(c, before):
		its.phase, its.unready = updating, false
	case c.pending && c.usable:
		its.phase, its.unready = queued, !c.isReady()
		if slices.Contains(w.next(), key) {
			its.phase = updating
		}
	default:
		its.phase = settled
	}
	if its.phase != before {
		w.wake()
	}
	return *its
}

// wasUpdating reports whether an earlier operator started to update a cache. That operator may have ended before it
// wrote this into the status, which then still reports a pending update.
func wasUpdating(c candidate, known phase) bool {
	pending := meta.FindStatusCondition(c.memcached.Status.Conditions, cachev1.ConditionUpdatePending)
	if pending == nil || c.isReady() {
		return false
	}
	return pending.Reason == cachev1.ReasonUpdateInProgress ||
		known == unseen && pending.Status == metav1.ConditionTrue && c.planned && !c.pending
}

// settle ends the update of a cache that is Ready now. If the update failed, the updates of all other caches stop.
func (w *updateQueue) settle(mc *cachev1.Memcached, now cachev1.MemcachedStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	entry := w.entries[client.ObjectKeyFromObject(mc)]
	if entry == nil || entry.uid != mc.UID || entry.phase != updating {
		return
	}
	before := *entry
	entry.stops = updateFailed(now) && !entry.unready
	if meta.IsStatusConditionTrue(now.Conditions, cachev1.ConditionReady) || updateFailed(now) && entry.unready {
		entry.phase = settled
	}
	if *entry != before {
		w.wake()
	}
}

// replacing are the reasons of Ready while Pods are being replaced.
var replacing = []string{cachev1.ReasonRollingOut, cachev1.ReasonHandingOver, cachev1.ReasonPodsNotReady}

// updateFailed reports whether a status shows that the update failed: a reason of Ready that does not occur while Pods
// are replaced.
func updateFailed(now cachev1.MemcachedStatus) bool {
	ready := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
	return ready != nil && ready.Status != metav1.ConditionTrue &&
		!slices.Contains(replacing, ready.Reason)
}

// next returns the queued caches that may be updated: none before every cache was reconciled, and none while the failed
// update of a cache stops the others.
func (w *updateQueue) next() []types.NamespacedName {
	free := w.most
	var line []types.NamespacedName
	for key, entry := range w.entries {
		switch {
		case entry.phase == unseen, entry.stops:
			return nil
		case entry.phase == updating:
			free--
		case entry.phase == queued:
			line = append(line, key)
		}
	}
	if free <= 0 {
		return nil
	}
	slices.SortFunc(line, func(a, b types.NamespacedName) int {
		return cmp.Or(
			cmp.Compare(w.entries[a].rank(), w.entries[b].rank()),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return line[:min(free, len(line))]
}

// rank puts caches that are not Ready last, because their updates do not show whether the operator's new defaults work,
// and may take long.
func (e *entry) rank() int {
	if e.unready {
		return 1
	}
	return 0
}

// wake enqueues the caches that may be updated, if any.
func (w *updateQueue) wake() {
	select {
	case w.changed <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	default: // An event is queued already.
	}
}

// due returns the caches that may be updated.
func (w *updateQueue) due(context.Context, client.Object) []reconcile.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	var requests []reconcile.Request
	for _, key := range w.next() {
		requests = append(requests, reconcile.Request{NamespacedName: key})
	}
	return requests
}

// counts returns the values of the metrics.
func (w *updateQueue) counts() metrics.Updates {
	w.mu.Lock()
	defer w.mu.Unlock()
	var counts metrics.Updates
	for _, entry := range w.entries {
		switch {
		case entry.phase == queued:
			counts.Pending++
		case entry.phase == updating && entry.stops:
			counts.Failed++
			counts.InProgress++
		case entry.phase == updating:
			counts.InProgress++
		}
	}
	return counts
}
