package handoff

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"
)

// forward reads the items that the old memcached answers, and stores them in the new ones.
func (c *copier) forward(ctx context.Context) {
	for {
		select {
		case b := <-c.batches:
			if err := c.forwardBatch(ctx, b); err != nil {
				c.lostWhileForwarding(b.to, err)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// lostWhileForwarding reports the memcached whose connection failed as lost: the new one if its writer has an error,
// and otherwise the old one.
func (c *copier) lostWhileForwarding(to *store, err error) {
	if failed := to.items.Flush(); failed != nil {
		to.side.lost(failed)
		return
	}
	c.from.lost(err)
}

// forwardBatch stores the items of a batch.
func (c *copier) forwardBatch(ctx context.Context, b batch) error {
	if err := take(ctx, c.writing); err != nil {
		return err
	}
	copied := make([]bool, len(b.keys))
	for {
		text, err := readLine(c.items)
		if err != nil {
			return err
		}
		if text == markerAnswer {
			return c.endBatch(b, copied)
		}
		if err := c.forwardItem(ctx, b, copied, text); err != nil {
			return err
		}
	}
}

// endBatch removes from the new memcached the changed keys that were not copied. It does not wait for answers.
func (c *copier) endBatch(b batch, copied []bool) error {
	for i, key := range b.keys {
		if b.changed && !copied[i] {
			write(b.to.items, key.removal())
		}
	}
	write(b.to.items, b.to.side.markers.command(func() {
		<-c.writing
		if b.done != nil {
			b.done()
		}
	}))
	return b.to.items.Flush()
}

// forwardItem stores one item, unless it must not be copied.
func (c *copier) forwardItem(ctx context.Context, b batch, copied []bool, text string) error {
	if len(text) > 0 && text[0] == 'S' { // SERVER_ERROR: no memory for the answer, or a failing disk
		c.counts.skipped.Add(1)
		return nil
	}
	i, err := parseItem(text)
	if err != nil {
		return &Failure{Reason: Internal, Err: err}
	}
	if i.index >= len(b.keys) {
		return &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers %q", text)}
	}
	numeric, err := number(c.items, i.size)
	if err != nil {
		return err
	}
	const lineEnd = 2
	k := b.keys[i.index]
	i.age(time.Since(b.requested))
	if numeric || i.stale || i.expiring() || b.to.side.isTooLarge(len(k.token)+i.size) || c.handoff.isLate(time.Now()) {
		c.counts.skipped.Add(1)
		_, err := c.items.Discard(i.size + lineEnd)
		return err
	}
	write(b.to.items, i.command(k, b.changed))
	if _, err := io.CopyN(b.to.items, c.items, int64(i.size+lineEnd)); err != nil {
		return err
	}
	copied[i.index] = true
	size := int64(len(k.token) + i.size)
	if b.changed {
		c.again.Add(size)
	} else {
		c.once.Add(size)
	}
	c.counts.keys.Add(1)
	c.counts.bytes.Add(size)
	return c.pace.Wait(ctx, size)
}

// age subtracts from the item's time to live the time since the item was requested: it may have waited for the network.
func (i *item) age(since time.Duration) {
	if i.ttl > 0 {
		i.ttl = max(0, i.ttl-int(since/time.Second))
	}
}

// expiring reports whether the item expires within a second. It is also true for a time to live of one, because
// memcached counts whole seconds.
func (i item) expiring() bool { return i.ttl == 0 || i.ttl == 1 }

// command returns the command that stores the item. The value has to follow it. A changed item replaces the item in the
// new memcached; any other item is added only if the new memcached does not have the key, because an item that a client
// stored there is newer.
//
// The item lives up to a second shorter than in the old memcached, and never longer, because the seconds of the two
// memcacheds begin at different times.
func (i item) command(k key, changed bool) string {
	ttl, mode := int64(0), " ME"
	if i.ttl > 0 {
		ttl = int64(i.ttl - 1)
	}
	const month = 60 * 60 * 24 * 30 // memcached takes a larger number for the Unix time at which the item expires
	if ttl > month {
		ttl += time.Now().Unix() - 1 // because memcached rounds the time of its start
	}
	if changed {
		mode = " MS"
	}
	return "ms " + k.token + " " + strconv.Itoa(i.size) + " " + k.flag() + "T" + strconv.FormatInt(ttl, 10) +
		" F" + i.flags + mode + " q\r\n"
}

// readStored reads the answers of a new memcached.
func (c *copier) readStored(from *store) error {
	for {
		answer, err := readLine(from.answers)
		if err != nil {
			return err
		}
		ok, err := stored(answer)
		if err != nil {
			return err
		}
		if !ok {
			c.counts.skipped.Add(1)
		}
	}
}
