package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

// writesBeforePause is how often the operator writes the same desired state before it pauses. Without a pause, two
// clients that keep overwriting each other would replace the Pods with each write.
const writesBeforePause = pace.Limit(3)

// conflicts remembers the writes to each object, to detect that another client keeps overwriting the object. An
// operator that was restarted does not know these writes, so it writes the object a few times more before it pauses.
type conflicts struct {
	now func() time.Time

	mu       sync.Mutex
	byObject map[types.UID]conflict
}

// conflict holds the writes that applied the same desired state to an object again and again.
type conflict struct {
	pace.Writes

	// hash is the hash of the desired state that was applied.
	hash string

	// changed are the fields that differed when the pause began, and drift describes which clients changed them. Both
	// are kept until the pause ends, so that the message in the status does not change.
	changed string
	drift   []drift.Drift
}

func newConflicts() *conflicts {
	return &conflicts{now: time.Now, byObject: map[types.UID]conflict{}}
}

// wait returns how long not to write an object; 0 means that it may be written.
func (c *conflicts) wait(uid types.UID, hash string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return writesBeforePause.Wait(c.same(uid, hash).Writes, c.now())
}

// knows reports whether the last write to an object applied the desired state with this hash.
func (c *conflicts) knows(uid types.UID, hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.same(uid, hash).hash != ""
}

// note records a write.
func (c *conflicts) note(uid types.UID, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byObject[uid] = conflict{hash: hash, Writes: c.same(uid, hash).After(c.now())}
	for other, old := range c.byObject {
		if old.IsOver(c.now()) {
			delete(c.byObject, other)
		}
	}
}

// explained returns which clients changed these fields, if explain has recorded this since the pause began.
func (c *conflicts) explained(uid types.UID, changed string) []drift.Drift {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.byObject[uid]; known.changed == changed {
		return known.drift
	}
	return nil
}

// explain records which clients changed these fields.
func (c *conflicts) explain(uid types.UID, changed string, drift []drift.Drift) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.byObject[uid]
	known.changed, known.drift = changed, drift
	c.byObject[uid] = known
}

// same returns the writes to an object that applied the desired state with this hash.
func (c *conflicts) same(uid types.UID, hash string) conflict {
	if known := c.byObject[uid]; known.hash == hash {
		return known
	}
	return conflict{}
}
