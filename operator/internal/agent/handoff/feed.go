package handoff

// Requests the items that a copier copies: first those of the dump and, in between, those of changed keys, and then
// those of the remaining changed keys.

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// fewChanges is how many changed keys may be left at the end of a copy. These keys are removed instead of copied again,
// because otherwise the copy would not end while clients write. maxRecopies limits how often changed keys are copied
// again before that.
const (
	fewChanges  = 64
	maxRecopies = 20

	// maxLateRounds is the limit instead of maxRecopies if the copy is late. All changed keys that are left after these
	// rounds are removed.
	maxLateRounds = 3
)

// feed runs all copiers. A copier that has copied its list continues to copy changed keys again, until all copiers have
// copied their lists, and Hold is closed.
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

// hold is called once all items are copied. It waits until Hold is closed, and then lets the copiers finish.
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
// is in the new memcacheds, and finishes when all is closed, because then all copiers may finish.
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
// changed key is removed immediately. This includes keys that changed before they were copied for the last time, if the
// lines about these changes arrive only while the session settles.
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
