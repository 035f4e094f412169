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

// statusLimit is how often a status that somebody else wrote is written over at once. Two operators that differ in what
// they would make Pods of tell different things, and each write calls for the next.
const statusLimit = pace.Limit(5)

// statuses remembers what was written last, to notice somebody else who writes.
type statuses struct {
	now func() time.Time

	mu       sync.Mutex
	written  map[types.UID]written
	tidiedAt time.Time
}

// written is the status of a Memcached as it was written last.
type written struct {
	hash [sha256.Size]byte
	at   time.Time
	over pace.Writes // the writes over somebody else's
}

func newStatuses() *statuses {
	return &statuses{now: time.Now, written: map[types.UID]written{}}
}

// wait returns how long the status that there is stays; 0 means that it may be written.
func (s *statuses) wait(there *cachev1.Memcached, now cachev1.MemcachedStatus) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.written[there.UID]
	switch {
	case s.isOverwritten(there):
		return statusLimit.Wait(last.over, s.now())
	case hasConflict(now) && slices.Equal(there.Status.Conditions, now.Conditions):
		// The nodes come and go as somebody else has it; that it be told at once is not worth a write for each.
		return max(last.at.Add(pace.Shortest).Sub(s.now()), 0)
	}
	return max(last.at.Add(pauseOf(there, now, last.at)).Sub(s.now()), 0)
}

// What is told of the Pods of a large cache is written after a pause. It is as long as the cache has not been Ready:
// what is over soon is told soon, and a long rollout costs few writes.
const (
	shortestPause = 2 * time.Second
	longestPause  = 5 * time.Minute
)

// pauseOf is how long after the last write a status is written.
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

// note remembers that a status took the place of the one that was there.
func (s *statuses) note(there, now *cachev1.Memcached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := s.written[there.UID].over
	if s.isOverwritten(there) {
		over = over.After(s.now())
	}
	s.written[there.UID] = written{hash: hashOf(now), at: s.now(), over: over}
	s.tidy()
}

// isOverwritten tells whether the status is not the one that was written last.
func (s *statuses) isOverwritten(there *cachev1.Memcached) bool {
	last, known := s.written[there.UID]
	return known && last.hash != hashOf(there)
}

// news leaves out, of what becomes of a Memcached, that the operator has written its status and nothing else.
func (s *statuses) news() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, now := e.ObjectOld.(*cachev1.Memcached), e.ObjectNew.(*cachev1.Memcached)
		return before.ResourceVersion == now.ResourceVersion || !sameButStatus(before, now) || !s.isOwn(now)
	}}
}

// sameButStatus compares what a pass goes by. The generation stands for the spec.
func sameButStatus(a, b *cachev1.Memcached) bool {
	return a.UID == b.UID && a.Generation == b.Generation && a.DeletionTimestamp.Equal(b.DeletionTimestamp) &&
		maps.Equal(a.Annotations, b.Annotations) && maps.Equal(a.Labels, b.Labels)
}

// isOwn tells whether the status is the one that was written last.
func (s *statuses) isOwn(there *cachev1.Memcached) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.written[there.UID]
	return known && last.hash == hashOf(there)
}

// tidy forgets, from time to time, what is too old to matter.
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
		panic(err) // It came as JSON.
	}
	return sha256.Sum256(content)
}
