package handoff

// Chooses which keys are copied next.

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// dump lists the keys that move, and sends them in batches to the channel dumped.
func (c *copier) dump(ctx context.Context) {
	keys, err := c.list(ctx)
	if err == nil {
		d := &dump{copier: c, keys: keys, batches: map[int]*batch{}}
		err = d.run(ctx)
		keys.close()
	}
	if err != nil {
		c.from.lost(err)
		return
	}
	close(c.dumped)
}

// list returns the keys that move. If listing takes more than half of the time that is left for the copy, list returns
// only the keys that are listed by then, because the other half of the time is for copying them.
func (c *copier) list(ctx context.Context) (*spool, error) {
	listing, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	go func(began time.Time) {
		for Wait(listing, pause) == nil {
			if c.handoff.isHalfOver(began, time.Now()) {
				enough(errEnough)
			}
		}
	}(time.Now())
	keys, err := list(listing, c.from.Dial, c.isToBeCopied, func() { c.counts.skipped.Add(1) })
	if err == nil && errors.Is(context.Cause(listing), errEnough) {
		c.handoff.hurried.Store(true)
		listed := keys.ages.keys(0, math.MaxUint8)
		c.counts.skipped.Add(max(0, c.expectedKeys-listed))
		c.handoff.Log.Warn("There is no time to list all keys", "keys", listed, "of", c.expectedKeys)
	}
	return keys, err
}

// isToBeCopied reports whether a key of the list moves. It counts the keys of the list, and those that Move expects at
// another server.
func (c *copier) isToBeCopied(k key) bool {
	from, to := c.move.Of(k.raw())
	c.listed.Add(1)
	if from != c.from.number {
		c.misplaced.Add(1)
		return false
	}
	return from != to
}

// dump is the state of copier.dump.
type dump struct {
	*copier

	keys    *spool
	batches map[int]*batch // by server
	planned int64          // number of keys that are to be copied
	left    int64          // bytes that are still to be copied
	hurries bool           // the hottest keys are next
}

// errTurn means that keys of another span are next.
var errTurn = errors.New("other keys are next")

// run sends the keys for which there is room and time, in batches. The coldest keys are first, because memcached first
// evicts the items that it got first. But if the time may not be enough, the hottest of the remaining keys are next.
func (d *dump) run(ctx context.Context) error {
	spans := d.keys.hottest(d.room)
	d.plan(spans)
	d.handoff.speed.begin(time.Now())
	for len(spans) > 0 && !d.handoff.isLate(time.Now()) {
		next := len(spans) - 1
		if d.hurries = d.handoff.hurries(time.Now()); d.hurries {
			if next = 0; spans[0].spare { // memcached could evict copied items to store those of this span
				break
			}
		}
		if err := d.keys.each(spans[next], func(k listed) error { return d.add(ctx, k) }); err == nil {
			spans = slices.Delete(spans, next, next+1)
		} else if !errors.Is(err, errTurn) {
			return err
		}
	}
	for to := range d.batches {
		if err := d.pass(ctx, to); err != nil {
			return err
		}
	}
	d.handoff.left.Add(-d.left)
	d.leaveOut(spans)
	return nil
}

// plan replaces the estimated number of bytes to copy with the number of bytes of the spans.
func (d *dump) plan(spans []*span) {
	for _, of := range spans {
		d.planned += of.left()
		bytes, keys := d.keys.ages.bytes(of.from, of.to), d.keys.ages.keys(of.from, of.to)
		d.left += int64(float64(bytes) / float64(max(1, keys)) * float64(of.left()))
	}
	d.handoff.left.Add(d.left - d.expected)
	if without := d.keys.ages.keys(0, math.MaxUint8) - d.planned; without > 0 {
		d.counts.skipped.Add(without)
		d.handoff.Log.Warn("There is no memory for the coldest keys", "keys", without, "of", without+d.planned)
	}
}

// leaveOut counts the keys of spans that will not be copied.
func (d *dump) leaveOut(spans []*span) {
	keys := int64(0)
	for _, of := range spans {
		keys += of.left()
	}
	message := "There is no time to copy the coldest keys"
	if keys < d.planned && !d.hurries { // The time seemed enough, but the copy then stood still until the time was over.
		message = "There is no time to copy the hottest keys"
	}
	if keys > 0 {
		d.counts.skipped.Add(keys)
		d.handoff.Log.Warn(message, "keys", keys, "of", d.keys.ages.keys(0, math.MaxUint8))
	}
}

// add adds a key to a batch, and passes the batch on if it is full.
func (d *dump) add(ctx context.Context, k listed) error {
	_, to := d.move.Of(k.raw())
	b := d.batches[to]
	if b == nil {
		b = &batch{to: d.stores[to]}
		d.batches[to] = b
	}
	b.keys, b.bytes = append(b.keys, k.key), b.bytes+k.bytes
	if len(b.keys) < d.batchKeys && b.bytes < maxBatchBytes {
		return nil
	}
	if err := d.pass(ctx, to); err != nil {
		return err
	}
	if now := time.Now(); d.handoff.isLate(now) || d.handoff.hurries(now) != d.hurries {
		return errTurn
	}
	return nil
}

// pass sends the batch for a server to the channel dumped.
func (d *dump) pass(ctx context.Context, to int) error {
	b := d.batches[to]
	delete(d.batches, to)
	d.left -= b.bytes
	b.done = func() { d.handoff.copiedOfList(b.bytes, time.Now()) }
	select {
	case d.dumped <- *b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
