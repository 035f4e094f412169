package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example-inc/memcached-operator/operator/internal/pace"
)

const (
	// contestWrites is how often a child is made the same within contestWindow. More than that is a fight, which rolls
	// the nodes with each blow.
	contestWrites = 3
	contestWindow = 10 * time.Minute
)

var contestLimit = pace.Limit{Writes: contestWrites, Window: contestWindow}

// contests remembers the writes to each child, to notice a fight. What it forgets at a restart costs a few writes.
type contests struct {
	now func() time.Time

	mu     sync.Mutex
	writes map[types.UID]wish
}

// wish are the writes that made a child the same each time.
type wish struct {
	hash  string // of what was applied
	times []time.Time
}

func newContests() *contests {
	return &contests{now: time.Now, writes: map[types.UID]wish{}}
}

// wait returns how long a child is left alone; 0 means that it may be written.
func (c *contests) wait(child types.UID, hash string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return contestLimit.Wait(c.same(child, hash), c.now())
}

// note remembers a write.
func (c *contests) note(child types.UID, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	recent := contestLimit.Recent(c.same(child, hash), c.now())
	c.writes[child] = wish{hash: hash, times: append(recent, c.now())}
	for uid, old := range c.writes {
		if last := old.times[len(old.times)-1]; c.now().Sub(last) > contestWindow {
			delete(c.writes, uid)
		}
	}
}

// same are the writes that made the child what it is to be now.
func (c *contests) same(child types.UID, hash string) []time.Time {
	if known := c.writes[child]; known.hash == hash {
		return known.times
	}
	return nil
}
