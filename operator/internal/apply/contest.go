package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/operator/internal/drift"
	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

// contestLimit is how often a child is made the same at once. More than that is a fight, which rolls the nodes with
// each blow.
const contestLimit = pace.Limit(3)

// contests remembers the writes to each child, to notice a fight. What it forgets at a restart costs a few writes.
type contests struct {
	now func() time.Time

	mu     sync.Mutex
	fights map[types.UID]fight
}

// fight are writes that made a child the same each time.
type fight struct {
	pace.Fight

	// hash is of what was applied.
	hash string

	// changed are the fields that were found changed when the pause began, and drift tells by whom: what the status says
	// of it holds still until it ends.
	changed string
	drift   []drift.Drift
}

func newContests() *contests {
	return &contests{now: time.Now, fights: map[types.UID]fight{}}
}

// wait returns how long a child is left alone; 0 means that it may be written.
func (c *contests) wait(child types.UID, hash string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return contestLimit.Wait(c.same(child, hash).Fight, c.now())
}

// knows tells whether a child was made just this by the last write.
func (c *contests) knows(child types.UID, hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.same(child, hash).hash != ""
}

// note remembers a write.
func (c *contests) note(child types.UID, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fights[child] = fight{hash: hash, Fight: c.same(child, hash).After(c.now())}
	for uid, old := range c.fights {
		if old.IsOver(c.now()) {
			delete(c.fights, uid)
		}
	}
}

// explained returns who changed these fields, if that is known since the pause began.
func (c *contests) explained(child types.UID, changed string) []drift.Drift {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.fights[child]; known.changed == changed {
		return known.drift
	}
	return nil
}

// explain remembers who changed these fields.
func (c *contests) explain(child types.UID, changed string, drift []drift.Drift) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.fights[child]
	known.changed, known.drift = changed, drift
	c.fights[child] = known
}

// same is the fight in which the child was made what it is to be now.
func (c *contests) same(child types.UID, hash string) fight {
	if known := c.fights[child]; known.hash == hash {
		return known
	}
	return fight{}
}
