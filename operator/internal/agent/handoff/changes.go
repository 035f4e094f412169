package handoff

import (
	"errors"
	"sync"
)

// Limits of the keys that have changed and are still to be copied again. They bound the agent's memory.
const (
	maxChanges     = 1 << 16
	maxChangeBytes = 4 << 20
)

// changes are the keys that have changed while the items are copied.
type changes struct {
	mutex   sync.Mutex
	keys    map[string]struct{}
	bytes   int
	stopped bool
	ready   chan struct{} // has an element if there are keys
}

func newChanges() *changes {
	return &changes{keys: map[string]struct{}{}, ready: make(chan struct{}, 1)}
}

// add adds a key, unless stop was called before. Then add returns false.
func (c *changes) add(key []byte) (bool, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.stopped {
		return false, nil
	}
	if _, ok := c.keys[string(key)]; ok {
		return true, nil
	}
	if len(c.keys) == maxChanges || c.bytes > maxChangeBytes {
		return true, &Failure{Reason: TooManyChanges, Err: errors.New("more keys change than can be copied again")}
	}
	c.keys[string(key)] = struct{}{}
	c.bytes += len(key)
	c.signal()
	return true, nil
}

// take removes and returns all keys.
func (c *changes) take() []key { return c.takeSome(maxChanges) }

// takeSome removes keys, and returns them: no more than most keys, or all keys if there are more than a quarter of the
// keys or bytes that may be collected.
func (c *changes) takeSome(most int) []key {
	const many = 4
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.keys) > maxChanges/many || c.bytes > maxChangeBytes/many {
		most = len(c.keys)
	}
	keys := make([]key, 0, min(most, len(c.keys)))
	for raw := range c.keys {
		if len(keys) == most {
			c.signal()
			break
		}
		keys = append(keys, keyOf([]byte(raw)))
		c.bytes -= len(raw)
		delete(c.keys, raw)
	}
	return keys
}

// signal puts an element into ready, because there are keys.
func (c *changes) signal() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// stop ends the collection. From then on, each key that changes is to be removed from the new memcached immediately. It
// returns the remaining keys.
func (c *changes) stop() []key {
	c.mutex.Lock()
	c.stopped = true
	c.mutex.Unlock()
	return c.take()
}

func (c *changes) len() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.keys)
}
