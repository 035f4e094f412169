package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// book is what all judging clients know together.
type book struct {
	keys []truth // of the keys that are written again and again
	late lateness

	mu     sync.Mutex
	result Judged
	began  time.Time
	times  [][]time.Duration // of reads of untouched keys, by second
	missed []int
}

// writtenShare is how many untouched keys there are for each that is written again and again.
const writtenShare = 10

func newBook(keys int) *book {
	return &book{keys: make([]truth, keys/writtenShare), began: time.Now()}
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

// read notes a read of an untouched key.
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

// Second is what clients saw of untouched keys in a second.
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

// Of twenty writes, one is a deletion. A few reads follow each write, or each of several.
const (
	deletionEvery = 20
	readsAWrite   = 3
)

// work writes at a pace, and reads.
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

// move follows DNS where the time has come.
func (c *judge) move() {
	for slot, at := range c.moveAt {
		if time.Now().After(at) {
			c.renew(slot)
		}
	}
}

// try asks a slot, a second time over a new connection if the first attempt fails.
func (c *judge) try(key string, ask func(*memcache.Client) error) error {
	slot := c.slotOf(key)
	err := ask(c.connections[slot])
	if err == nil || errors.Is(err, memcache.ErrCacheMiss) {
		return err
	}
	c.renew(slot)
	if err = ask(c.connections[slot]); err == nil || errors.Is(err, memcache.ErrCacheMiss) {
		c.book.note(func(r *Judged) { r.Reconnected++ })
	} else {
		c.book.fail(fmt.Errorf("%s: %w", key, err))
	}
	return err
}

func (c *judge) write(i int, deletes bool) {
	k := &c.book.keys[i]
	if !k.writing.TryLock() {
		return // Another client writes it.
	}
	defer k.writing.Unlock()
	version := k.begin()
	err := c.try(key(i), func(connection *memcache.Client) error {
		if deletes {
			return connection.Delete(key(i))
		}
		return connection.Set(&memcache.Item{Key: key(i), Value: []byte(strconv.Itoa(version) + "v")})
	})
	if err != nil && !errors.Is(err, memcache.ErrCacheMiss) {
		return // It is not known whether memcached did it.
	}
	k.settle(version, deletes, time.Now())
	c.book.note(func(r *Judged) {
		r.Writes++
		if deletes {
			r.Deletions++
		}
	})
}

func (c *judge) readWritten(i int) {
	began, version, missed := time.Now(), 0, false
	err := c.try(key(i), func(connection *memcache.Client) error {
		began = time.Now()
		item, err := connection.Get(key(i))
		if err == nil {
			version = versionOf(item)
		}
		return err
	})
	if missed = errors.Is(err, memcache.ErrCacheMiss); err != nil && !missed {
		return
	}
	found, late := verdict{}, c.book.late.allowed(time.Now())
	if !missed {
		found = c.book.keys[i].judge(version, began, staleBound+late)
	}
	c.book.note(func(r *Judged) {
		r.judged(found, missed)
		r.Late = max(r.Late, float64(late.Microseconds())/1000)
	})
}

// versionOf returns the version in a value; it is not all digits, since those are never copied.
func versionOf(item *memcache.Item) int {
	version, _ := strconv.Atoi(string(item.Value[:max(len(item.Value)-1, 0)]))
	return version
}

func (r *Judged) judged(v verdict, missed bool) {
	r.Reads++
	r.Oldest = max(r.Oldest, float64(v.age.Microseconds())/1000)
	for counter, is := range map[*int]bool{&r.Misses: missed, &r.Stale: v.stale, &r.Resurrected: v.resurrected} {
		if is {
			*counter++
		}
	}
}

func (c *judge) readUntouched(i int) {
	began := time.Now()
	err := c.try(untouched(i), func(connection *memcache.Client) error {
		_, err := connection.Get(untouched(i))
		return err
	})
	if missed := errors.Is(err, memcache.ErrCacheMiss); err == nil || missed {
		c.book.read(began, missed)
	}
}
