package apply

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// contestWrites is how often a child is made the same within contestWindow. More than that is a fight, which rolls
	// the nodes with each blow.
	contestWrites = 3
	contestWindow = 10 * time.Minute
)

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
	recent := c.recent(child, hash)
	if len(recent) < contestWrites {
		return 0
	}
	return recent[len(recent)-contestWrites].Add(contestWindow).Sub(c.now())
}

// note remembers a write.
func (c *contests) note(child types.UID, hash string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes[child] = wish{hash: hash, times: append(c.recent(child, hash), c.now())}
	for uid, old := range c.writes {
		if last := old.times[len(old.times)-1]; c.now().Sub(last) > contestWindow {
			delete(c.writes, uid)
		}
	}
}

func (c *contests) recent(child types.UID, hash string) []time.Time {
	known := c.writes[child]
	if known.hash != hash {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(known.times), func(t time.Time) bool {
		return c.now().Sub(t) >= contestWindow
	})
}
