package apply

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// contestWrites is how often a child is put right for the same wish of the Memcached within contestWindow. More
	// than that is a fight, which rolls the nodes with each blow.
	contestWrites = 3
	contestWindow = 10 * time.Minute
)

// contests remembers the writes to each child, to notice a fight. What it forgets at a restart costs a few writes.
type contests struct {
	now func() time.Time

	mu     sync.Mutex
	writes map[types.UID]wish
}

// wish are the writes by which one generation of a Memcached was brought about.
type wish struct {
	generation int64
	times      []time.Time
}

func newContests() *contests {
	return &contests{now: time.Now, writes: map[types.UID]wish{}}
}

// wait returns how long a child is left alone; 0 means that it may be written.
func (c *contests) wait(child types.UID, generation int64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	recent := c.recent(child, generation)
	if len(recent) < contestWrites {
		return 0
	}
	return recent[len(recent)-contestWrites].Add(contestWindow).Sub(c.now())
}

// note remembers a write.
func (c *contests) note(child types.UID, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes[child] = wish{generation: generation, times: append(c.recent(child, generation), c.now())}
	for uid, old := range c.writes {
		if last := old.times[len(old.times)-1]; c.now().Sub(last) > contestWindow {
			delete(c.writes, uid)
		}
	}
}

func (c *contests) recent(child types.UID, generation int64) []time.Time {
	known := c.writes[child]
	if known.generation != generation {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(known.times), func(t time.Time) bool {
		return c.now().Sub(t) >= contestWindow
	})
}
