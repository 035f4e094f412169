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

// fewChanges are removed rather than copied again, so that the copy ends while clients write.
const (
	fewChanges  = 64
	maxRecopies = 20

	// maxLateRounds is the same if it is late: the keys that change faster are removed, too.
	maxLateRounds = 3
)

// feed lets all copiers copy. As long as one is not through, and until Hold ends, the others copy again what changes.
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

// feed has the keys of the dump copied, and in the meantime those that change again. It calls dumped once all of the
// dump is in the new memcacheds, and finishes when the copiers are all to finish.
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

// turn returns how many keys may be copied again before others of the list are.
func (c *copier) turn(isDumping bool) int {
	if isDumping {
		return window * c.batchKeys
	}
	return maxChanges
}

// sendChanged has keys that have changed copied again.
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

// finish copies again what has changed, until little is left, and removes the rest from the new memcached. From then
// on it removes each change immediately. What changed before the last copy, and is in the log only when the session
// settles, is removed, too.
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
