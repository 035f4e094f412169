package metrics

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const (
	// mostWaits bounds what is remembered: changes beyond it are not measured.
	mostWaits = 10_000

	// longestWait is when a change may be forgotten: its Memcached was deleted, or will hardly be Ready any more.
	longestWait = 24 * time.Hour
)

// waits remembers since when changes of specs are under way.
type waits struct {
	now     func() time.Time
	started time.Time

	mu    sync.Mutex
	since map[types.UID]wait
}

// wait is a generation of a Memcached that is not Ready yet.
type wait struct {
	generation int64
	since      time.Time
}

func newWaits() *waits {
	return &waits{now: time.Now, started: time.Now(), since: map[types.UID]wait{}}
}

// look returns how long a change took, once the cache is Ready with it. Nodes that fail later are no change; neither is
// measured what another operator began with, or what waits for the end of a suspension.
func (w *waits) look(mc *cachev1.Memcached, now cachev1.MemcachedStatus) (took time.Duration, ready bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	current, known := w.since[mc.UID]
	if !known || current.generation != mc.Generation {
		delete(w.since, mc.UID)
		if mc.Spec.Suspend || mc.Status.ObservedGeneration == mc.Generation {
			return 0, false
		}
		current = wait{generation: mc.Generation, since: w.beginning(mc)}
	}
	if meta.IsStatusConditionTrue(now.Conditions, cachev1.ConditionReady) {
		delete(w.since, mc.UID)
		return max(w.now().Sub(current.since), 0), true // Clocks may differ.
	}
	w.remember(mc.UID, current)
	return 0, false
}

// beginning is when the spec became what it is: known of a new Memcached, unless the operator was not there yet, and
// else the moment in which the change is first seen.
func (w *waits) beginning(mc *cachev1.Memcached) time.Time {
	if created := mc.CreationTimestamp.Time; mc.Generation == 1 && created.After(w.started) {
		return created
	}
	return w.now()
}

func (w *waits) remember(uid types.UID, current wait) {
	if len(w.since) >= mostWaits {
		maps.DeleteFunc(w.since, func(_ types.UID, old wait) bool { return w.now().Sub(old.since) > longestWait })
	}
	if _, known := w.since[uid]; known || len(w.since) < mostWaits {
		w.since[uid] = current
	}
}
