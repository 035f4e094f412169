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
	// mostWaits is how many changes are measured at a time, which limits the memory for them. Further changes are not
	// measured.
	mostWaits = 10_000

	// longestWait is how long a change is remembered. After that, its Memcached was probably deleted, or is unlikely to
	// become Ready.
	longestWait = 24 * time.Hour
)

// waits remembers when changes to specs began.
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

// look returns how long a change took, once the cache is Ready with it. If Pods fail later, that is no change. Changes
// that began under another operator, or while the Memcached was suspended, are not measured.
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

// beginning returns when the spec changed. For a new Memcached that was created while the operator ran, this is the
// creation time. For other changes, it is the time at which the operator first sees the change.
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
