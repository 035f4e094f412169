package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/example-inc/memcached-operator/internal/testing/consistency"
)

// book is what all clients that judge a cache record together.
type book struct {
	keys     []versions // versions of the keys that are written again and again
	accesses consistency.History
	late     lateness
	bound    time.Duration // how long after a write an older value may be read

	mu     sync.Mutex
	result Judged
	began  time.Time
	times  [][]time.Duration // how long reads of untouched keys took, by second
	missed []int
}

// versions count the writes of a key. Each write stores the next number, and begins only when memcached has answered
// the previous write.
type versions struct {
	writing sync.Mutex
	last    int
}

// writtenShare is how many untouched keys exist for each key that is written again and again.
const writtenShare = 10

func newBook(keys int, bound time.Duration) *book {
	return &book{keys: make([]versions, keys/writtenShare), bound: bound, began: time.Now()}
}

// note changes the result.
func (b *book) note(change func(*Judged)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.result)
}

func (b *book) fail(err error) {
	b.note(func(r *Judged) {
		r.Errors++
		if len(r.Failures) < mostFailures {
			r.Failures = append(r.Failures, fmt.Sprintf("%s %v", time.Now().Format(time.TimeOnly), err))
		}
	})
}

// read records a read of an untouched key.
func (b *book) read(began time.Time, missed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	second := int(began.Sub(b.began) / time.Second)
	for len(b.times) <= second {
		b.times, b.missed = append(b.times, nil), append(b.missed, 0)
	}
	b.times[second] = append(b.times[second], time.Since(began))
	if missed {
		b.missed[second]++
	}
}

// judge judges whether all reads were consistent, once the clients have ended.
func (b *book) judge() error {
	accesses := b.accesses.Accesses()
	violations, err := consistency.Judge(accesses)
	if err != nil {
		return err
	}
	for _, violation := range violations[:min(len(violations), mostFailures)] {
		b.result.Failures = append(b.result.Failures, violation.String())
	}
	oldest, err := consistency.Oldest(accesses, b.bound+time.Duration(b.result.Late)*time.Millisecond)
	b.result.Outdated, b.result.Oldest = len(violations), float64(oldest.Milliseconds())
	return err
}

// Second is what clients saw of the untouched keys during one second.
type Second struct {
	Reads  int     `json:"reads"`
	Misses int     `json:"misses"`
	P99    float64 `json:"p99"` // microseconds
}

func (b *book) seconds() (all []Second) {
	for i, times := range b.times {
		second := Second{Reads: len(times), Misses: b.missed[i]}
		if len(times) > 0 {
			slices.Sort(times)
			second.P99 = float64(times[min(len(times)*99/100, len(times)-1)].Nanoseconds()) / 1000
		}
		all = append(all, second)
	}
	return all
}

// On average, one of twenty writes is a deletion. A few reads follow each write or, with readEvery, each group of
// writes.
const (
	deletionEvery = 20
	readsAWrite   = 3
)

// work makes one write in each period, and then reads.
func (c *judge) work(ctx context.Context, every time.Duration) error {
	ticks := time.Tick(every)
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
		c.move()
		c.write(c.random.IntN(len(c.book.keys)), c.random.IntN(deletionEvery) == 0)
		if i%max(c.readEvery, 1) != 0 {
			continue
		}
		for range readsAWrite {
			c.readWritten(c.random.IntN(len(c.book.keys)))
			c.readUntouched(c.random.IntN(c.keys))
		}
	}
}

// move asks DNS again for each slot for which it is time to do so.
func (c *judge) move() {
	for slot, at := range c.moveAt {
		if !time.Now().After(at) {
			continue
		}
		if c.relist() {
			return
		}
		c.renew(slot)
	}
}

// relist opens new connections to all slots if there are more or fewer of them, and returns whether it did.
func (c *judge) relist() bool {
	slots := c.listed()
	if slots == len(c.connections) {
		return false
	}
	c.open(slots)
	return true
}

// try sends a request to the slot of a key. If the first attempt fails, it sends the request a second time, over a new
// connection.
func (c *judge) try(key string, ask func(*memcache.Client) error) error {
	slot := c.slotOf(key)
	err := ask(c.connections[slot])
	if answered(err) {
		return err
	}
	c.relist()
	slot = c.slotOf(key)
	c.renew(slot)
	if err = ask(c.connections[slot]); answered(err) {
		c.book.note(func(r *Judged) { r.Reconnected++ })
	} else {
		c.book.fail(fmt.Errorf("%s: %w", key, err))
	}
	return err
}

func (c *judge) write(i int, deletes bool) {
	k := &c.book.keys[i]
	if !k.writing.TryLock() {
		return // Another client is writing this key.
	}
	defer k.writing.Unlock()
	k.last++
	access := consistency.Access{Key: key(i), Writes: true, Began: time.Now()}
	if !deletes {
		access.Value = fmt.Sprintf("version %d", k.last)
	}
	err := c.try(key(i), func(connection *memcache.Client) error {
		if deletes {
			return connection.Delete(key(i))
		}
		return connection.Set(&memcache.Item{Key: key(i), Value: []byte(access.Value)})
	})
	if answered(err) {
		c.book.note(func(r *Judged) {
			r.Writes++
			if deletes {
				r.Deletions++
			}
		})
	} else {
		access.Error = err.Error()
	}
	access.Ended = time.Now()
	c.book.accesses.Add(access)
}

// answered reports whether memcached answered a request. A miss is an answer, too.
func answered(err error) bool { return err == nil || errors.Is(err, memcache.ErrCacheMiss) }

func (c *judge) readWritten(i int) {
	access := consistency.Access{Key: key(i)}
	err := c.try(key(i), func(connection *memcache.Client) error {
		access.Began = time.Now()
		item, err := connection.Get(key(i))
		if err == nil {
			access.Value = string(item.Value)
		}
		return err
	})
	if !answered(err) {
		return
	}
	access.Ended = time.Now()
	late := c.book.late.allowed(access.Ended)
	access.Stale = c.book.bound + late
	c.book.accesses.Add(access)
	c.book.note(func(r *Judged) {
		r.Reads++
		r.Late = max(r.Late, float64(late.Microseconds())/1000)
		if err != nil {
			r.Misses++
		}
	})
}

func (c *judge) readUntouched(i int) {
	began := time.Now()
	err := c.try(untouched(i), func(connection *memcache.Client) error {
		_, err := connection.Get(untouched(i))
		return err
	})
	if answered(err) {
		c.book.read(began, err != nil)
	}
}
