package controller

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// statusLimit is how often the operator overwrites a status that another client wrote, before it pauses. Two
// operators with different defaults write different statuses, and each write triggers the next.
const statusLimit = pace.Limit(5)

// statuses remembers the last written status, to detect that another client overwrites it.
type statuses struct {
	now func() time.Time

	mu       sync.Mutex
	written  map[types.UID]written
	tidiedAt time.Time
}

// written describes the status that the operator last wrote for a Memcached.
type written struct {
	hash       [sha256.Size]byte
	version    string // the resource version, which identifies the status without a hash of it
	generation int64  // of the spec at that time
	at         time.Time
	over       pace.Writes // the writes that replaced another client's status
}

func newStatuses() *statuses {
	return &statuses{now: time.Now, written: map[types.UID]written{}}
}

// wait returns how long a new status must not be written yet; 0 means that it may be written.
func (s *statuses) wait(there *cachev1.Memcached, now cachev1.MemcachedStatus) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.written[there.UID]
	switch {
	case s.isOverwritten(there) && last.generation != there.Generation:
		return 0 // Users wait for the status of a change that they made, and make few changes.
	case s.isOverwritten(there):
		return statusLimit.Wait(last.over, s.now())
	case hasConflict(now) && slices.Equal(there.Status.Conditions, now.Conditions):
		// In a conflict, another client causes the changes to Pods, so these changes need not be written one by one.
		return max(last.at.Add(pace.Shortest).Sub(s.now()), 0)
	}
	return max(last.at.Add(pauseOf(there, now, last.at)).Sub(s.now()), 0)
}

// Changes to the Pods of a large cache are written after a pause. The pause is as long as the cache has not been Ready,
// so a short rollout is reported soon, and a long rollout costs few writes.
const (
	shortestPause = 2 * time.Second
	longestPause  = 5 * time.Minute
)

// pauseOf returns how long after the last write the next status is written.
func pauseOf(there *cachev1.Memcached, now cachev1.MemcachedStatus, last time.Time) time.Duration {
	switch status.ChangeOf(there, now) {
	case status.Progress:
		return shortestPause
	case status.Minor:
		ready := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
		return min(max(last.Sub(ready.LastTransitionTime.Time), shortestPause), longestPause)
	case status.Urgent:
	}
	return 0
}

func hasConflict(now cachev1.MemcachedStatus) bool {
	ready := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady)
	return ready != nil && ready.Reason == cachev1.ReasonFieldManagerConflict
}

// note records that the operator wrote the status of now, which replaced the status of there.
func (s *statuses) note(there, now *cachev1.Memcached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := s.written[there.UID].over
	if s.isOverwritten(there) {
		over = over.After(s.now())
	}
	s.written[there.UID] = written{
		hash: hashOf(now), version: now.ResourceVersion, generation: there.Generation, at: s.now(), over: over,
	}
	s.tidy()
}

// isOverwritten reports whether another client replaced the status that the operator last wrote.
func (s *statuses) isOverwritten(there *cachev1.Memcached) bool {
	last, known := s.written[there.UID]
	return known && !last.isIn(there)
}

// isIn reports whether a Memcached has this status.
func (w written) isIn(there *cachev1.Memcached) bool {
	return w.version != "" && w.version == there.ResourceVersion || w.hash == hashOf(there)
}

// news returns a predicate that ignores an update of a Memcached if only the status changed, and the operator has just
// written this status.
func (s *statuses) news() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, now := e.ObjectOld.(*cachev1.Memcached), e.ObjectNew.(*cachev1.Memcached)
		return before.ResourceVersion == now.ResourceVersion || !sameButStatus(before, now) || !s.isOwn(now)
	}}
}

// sameButStatus compares the parts of a Memcached, except for the status, on which a reconciliation depends. The
// generation represents the spec.
func sameButStatus(a, b *cachev1.Memcached) bool {
	return a.UID == b.UID && a.Generation == b.Generation && a.DeletionTimestamp.Equal(b.DeletionTimestamp) &&
		maps.Equal(a.Annotations, b.Annotations) && maps.Equal(a.Labels, b.Labels)
}

// isOwn reports whether a Memcached has the status that the operator last wrote.
func (s *statuses) isOwn(there *cachev1.Memcached) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.written[there.UID]
	return known && last.isIn(there)
}

// tidy occasionally forgets records that are too old to matter.
func (s *statuses) tidy() {
	if s.now().Sub(s.tidiedAt) < pace.Longest {
		return
	}
	s.tidiedAt = s.now()
	for uid, old := range s.written {
		if old.over.IsOver(s.now()) && s.now().Sub(old.at) > pace.Longest {
			delete(s.written, uid)
		}
	}
}

func hashOf(mc *cachev1.Memcached) [sha256.Size]byte {
	content, err := json.Marshal(mc.Status)
	if err != nil {
		panic(err) // The status was decoded from JSON.
	}
	return sha256.Sum256(content)
}
