package handoff

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Progress is how far a handoff is.
type Progress struct {
	// Keys and Bytes are the items that were copied so far, and the size of their keys and values. An item that changes
	// in the meantime is copied again, and counts again.
	Keys, Bytes int64

	// TotalKeys and TotalBytes are about how many keys, and bytes of keys and values, move. They are estimated from the
	// statistics of the old memcacheds at the beginning.
	TotalKeys, TotalBytes int64

	// Invalidated counts the keys that were removed from one memcached because they had changed in the other.
	Invalidated int64

	// Skipped counts the items that were not copied: numbers, stale items, items about to expire, items that the new
	// memcached rejects, and the coldest ones, if the new memcached or the time does not suffice.
	Skipped int64

	// Followed is whether all keys that the old memcacheds had at the beginning are copied.
	Followed bool

	// Copied is whether Handoff.Copied was called.
	Copied bool

	// Emptied is why the copied keys were lost: the reason of the first Failure after all keys were copied. It is empty if
	// there was no such Failure.
	Emptied string
}

// counts are the values of Progress, which grow during a handoff.
type counts struct {
	keys, bytes, totalKeys, totalBytes, invalidated, skipped atomic.Int64
	followed, copied                                         atomic.Bool

	// used is whether a client has stored, deleted or missed a key in the new memcached since all keys were copied.
	used atomic.Bool

	emptied atomic.Pointer[string]
}

// lose records why the copied keys are lost. Only the first reason counts, because the others follow from it.
func (c *counts) lose(reason string) {
	if c.copied.Load() {
		c.emptied.CompareAndSwap(nil, &reason)
	}
}

// total adds the keys that move from a memcached, as estimated from its statistics, to the totals. It returns the
// estimated number of these keys, and of the bytes of these keys and their values.
func (c *counts) total(stats map[string]string, share float64) (keys, bytes int64) {
	items, _ := strconv.ParseFloat(stats["curr_items"], 64)
	memory, _ := strconv.ParseFloat(stats["bytes"], 64)
	keys = int64(items * share)
	c.totalKeys.Add(keys)
	c.totalBytes.Add(int64(memory * share))
	return keys, int64(max(0, memory-ofHeader*items) * share)
}

// Progress returns the progress of the handoff. It may be called at any time.
func (h *Handoff) Progress() Progress {
	c := &h.counts
	emptied := ""
	if reason := c.emptied.Load(); reason != nil {
		emptied = *reason
	}
	return Progress{
		Keys: c.keys.Load(), Bytes: c.bytes.Load(), TotalKeys: c.totalKeys.Load(), TotalBytes: c.totalBytes.Load(),
		Invalidated: c.invalidated.Load(), Skipped: c.skipped.Load(), Followed: c.followed.Load(),
		Copied: c.copied.Load(), Emptied: emptied,
	}
}

// pace limits the bytes per second of all copiers together.
type pace struct {
	limit func(now time.Time) float64 // bytes per second; 0 is no limit

	mutex sync.Mutex
	due   time.Time
}

// Wait is called after bytes were copied, and waits until the limit allows them. It does not sleep for a very short
// time, but lets a later call sleep for longer.
func (p *pace) Wait(ctx context.Context, bytes int64) error {
	const shortest = 5 * time.Millisecond
	if ahead := p.add(bytes, time.Now()); ahead > shortest {
		return Wait(ctx, ahead)
	}
	return nil
}

// add counts bytes that were copied, and returns how long to wait until the limit allows them.
func (p *pace) add(bytes int64, now time.Time) time.Duration {
	rate := p.limit(now)
	if rate <= 0 {
		return 0
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(time.Duration(float64(bytes) / rate * float64(time.Second)))
	return p.due.Sub(now)
}
