package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

// writesBeforePause is how often a child is made the same at once. More than that is a fight, which rolls the nodes with
// each blow.
const writesBeforePause = pace.Limit(3)

// contests remembers the writes to each child, to notice a fight. What it forgets at a restart costs a few writes.
type conflicts struct {
	now func() time.Time

	mu       sync.Mutex
	byObject map[types.UID]conflict
}

// fight are writes that made a child the same each time.
type conflict struct {
	pace.Writes

	// hash is of what was applied.
	hash string

	// changed are the fields that were found changed when the pause began, and drift tells by whom: what the status says
	// of it holds still until it ends.
	changed string
	drift   []drift.Drift
}

func newConflicts() *conflicts {
	return &conflicts{now: time.Now, byObject: map[types.UID]conflict{}}
}

// wait returns how long a child is left alone; 0 means that it may be written.
func (c *conflicts) wait(child types.UID, hash string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return writesBeforePause.Wait(c.same(child, hash).Writes, c.now())
}

// knows tells whether a child was made just this by the last write.
func (c *conflicts) knows(child types.UID, hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.same(child, hash).hash != ""
}

// note remembers a write.
func (c *conflicts) note(child types.UID, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byObject[child] = conflict{hash: hash, Writes: c.same(child, hash).After(c.now())}
	for uid, old := range c.byObject {
		if old.IsOver(c.now()) {
			delete(c.byObject, uid)
		}
	}
}

// explained returns who changed these fields, if that is known since the pause began.
func (c *conflicts) explained(child types.UID, changed string) []drift.Drift {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.byObject[child]; known.changed == changed {
		return known.drift
	}
	return nil
}

// explain remembers who changed these fields.
func (c *conflicts) explain(child types.UID, changed string, drift []drift.Drift) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.byObject[child]
	known.changed, known.drift = changed, drift
	c.byObject[child] = known
}

// same is the fight in which the child was made what it is to be now.
func (c *conflicts) same(child types.UID, hash string) conflict {
	if known := c.byObject[child]; known.hash == hash {
		return known
	}
	return conflict{}
}
