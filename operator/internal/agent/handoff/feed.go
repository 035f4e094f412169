package handoff

// The order in which a copier sends what is to be copied: the dump, what changes, and the rest.

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// fewChanges is the number of changed keys that are removed instead of being copied again: otherwise the copy would not
// end while clients write. maxRecopies limits how often changed keys are copied again before that.
const (
	fewChanges  = 64
	maxRecopies = 20

	// maxLateRounds is the same limit if the copy is late: keys that change faster are removed, too.
	maxLateRounds = 3
)

// feed runs all copiers. Until the last of them has copied its list, and Hold has ended, the others copy changed keys
// again.
func (s *session) feed(ctx context.Context, copiers []*copier) error {
	var dumping atomic.Int64
	dumping.Store(int64(len(copiers)))
	all := make(chan struct{})
	dumped := func() {
		if dumping.Add(-1) == 0 {
			go s.hold(ctx, all)
		}
	}
	var copying sync.WaitGroup
	errs := make([]error, len(copiers))
	for i, c := range copiers {
		copying.Go(func() {
			if errs[i] = c.feed(ctx, dumped, all); errs[i] != nil {
				s.fail(errs[i])
			}
		})
	}
	copying.Wait()
	return errors.Join(errs...)
}

// hold lets the copiers finish once all items are copied, and Hold has ended.
func (s *session) hold(ctx context.Context, all chan<- struct{}) {
	if err := errors.Join(s.checkPlaces(), s.checkUses()); err != nil {
		s.fail(err)
		return
	}
	s.handoff.counts.followed.Store(true)
	if s.handoff.Followed != nil {
		s.handoff.Followed()
	}
	if s.handoff.Hold != nil {
		select {
		case <-s.handoff.Hold:
		case <-ctx.Done():
			return
		}
	}
	close(all)
}

// feed copies the keys of the dump, and in the meantime copies changed keys again. It calls dumped once the whole dump
// is in the new memcacheds, and finishes when all copiers may finish.
func (c *copier) feed(ctx context.Context, dumped func(), all <-chan struct{}) error {
	go c.dump(ctx)
	dump := c.dumped
	for {
		var err error
		select {
		case b, more := <-dump:
			if more {
				err = c.send(ctx, b)
			} else if err = c.drain(ctx); err == nil {
				dump = nil
				dumped()
			}
		case <-c.from.changes.ready:
		case <-all:
			return c.finish(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err == nil {
			err = c.sendChanged(ctx, c.from.changes.takeSome(c.turn(dump != nil)))
		}
		if err != nil {
			return err
		}
	}
}

// turn returns how many changed keys may be copied again before the next keys of the list.
func (c *copier) turn(isDumping bool) int {
	if isDumping {
		return window * c.batchKeys
	}
	return maxChanges
}

// sendChanged copies changed keys again.
func (c *copier) sendChanged(ctx context.Context, keys []key) error {
	changed := map[int][]key{}
	for _, key := range keys {
		_, to := c.move.Of(key.raw())
		changed[to] = append(changed[to], key)
	}
	for to, all := range changed {
		for keys := range slices.Chunk(all, c.batchKeys) {
			if err := c.send(ctx, batch{to: c.stores[to], keys: keys, changed: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish copies changed keys again until few are left, and removes these from the new memcached. From then on, each
// changed key is removed immediately. This includes keys that changed before the last copy, but are in the log only
// when the session settles.
func (c *copier) finish(ctx context.Context) error {
	if err := errors.Join(c.drain(ctx), c.each(func(s *side) error { return s.heartbeat.wait(ctx) })); err != nil {
		return err
	}
	for round := range maxRecopies {
		if c.from.changes.len() <= fewChanges || round >= maxLateRounds && c.handoff.isLate(time.Now()) {
			break
		}
		if err := errors.Join(c.sendChanged(ctx, c.from.changes.take()), c.drain(ctx)); err != nil {
			return err
		}
	}
	for _, key := range c.from.changes.stop() {
		_, to := c.move.Of(key.raw())
		c.side(to).removals.remove(key)
	}
	return nil
}
