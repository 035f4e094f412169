package controller

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

const (
	// statusWrites is how often a status that somebody else wrote is written over within statusWindow. Two operators
	// that differ in what they would make Pods of tell different things, and each write calls for the next.
	statusWrites = 5
	statusWindow = 10 * time.Minute
)

var statusLimit = pace.Limit{Writes: statusWrites, Window: statusWindow}

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
	over []time.Time // when it was written over somebody else's
}

func newStatuses() *statuses {
	return &statuses{now: time.Now, written: map[types.UID]written{}}
}

// wait returns how long the status that there is stays; 0 means that it may be written.
func (s *statuses) wait(there *cachev1.Memcached) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := statusLimit.Wait(s.written[there.UID].over, s.now())
	if wait == 0 || !s.isForeign(there) {
		return 0
	}
	return wait
}

// note remembers that a status took the place of the one that was there.
func (s *statuses) note(there, now *cachev1.Memcached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := statusLimit.Recent(s.written[there.UID].over, s.now())
	if s.isForeign(there) {
		over = append(over, s.now())
	}
	s.written[there.UID] = written{hash: hashOf(now), at: s.now(), over: over}
	s.tidy()
}

// isForeign tells whether the status is not the one that was written last.
func (s *statuses) isForeign(there *cachev1.Memcached) bool {
	last, known := s.written[there.UID]
	return known && last.hash != hashOf(there)
}

// tidy forgets, from time to time, what is too old to matter.
func (s *statuses) tidy() {
	if s.now().Sub(s.tidiedAt) < statusWindow {
		return
	}
	s.tidiedAt = s.now()
	for uid, old := range s.written {
		if s.now().Sub(old.at) > statusWindow {
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
