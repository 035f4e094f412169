package handoff

import (
	"context"
	"errors"
	"sync"
)

// errDone is the cause of the end of a session after which nothing is left to do.
var errDone = errors.New("the old memcached has ended, and all its writes are known")

// session watches both memcacheds, and removes from each what changes in the other.
type session struct {
	handoff  *Handoff
	old, new *side
	changes  *changes
	fail     context.CancelCauseFunc

	// storing ends when the new memcached has stored all that was sent. If it is emptied earlier, it does not stay empty.
	storing sync.WaitGroup
}

// run watches both memcacheds, does the work, and watches on until an error or the end of the old one.
func (h *Handoff) run(ctx context.Context, work func(context.Context, *session) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := &session{handoff: h, changes: newChanges(), fail: fail}
	s.old = &side{name: "Old", dial: h.Old, fail: fail}
	s.new = &side{name: "New", dial: h.New, fail: fail}
	err := s.start(ctx)
	if err == nil {
		err = work(ctx, s)
	}
	if err != nil {
		fail(err) // unless another error was the first
	}
	<-ctx.Done()
	s.storing.Wait()
	return context.Cause(ctx)
}

// start returns once no change of either memcached can be missed.
func (s *session) start(ctx context.Context) error {
	if err := errors.Join(s.old.open(ctx), s.new.open(ctx)); err != nil {
		return err
	}
	s.old.stream.changed, s.old.stream.idle = s.changedInOld, s.new.removals.flush
	s.old.stream.removed = s.removedFromOld
	s.new.stream.changed, s.new.stream.idle = s.changedInNew, s.old.removals.flush
	s.old.heartbeat.flushed = func() error { return s.flushed(s.new) }
	s.new.heartbeat.flushed = func() error { return s.flushed(s.old) }
	s.old.run(ctx, func(err error) { s.oldEnded(ctx, err) })
	s.new.run(ctx, s.fail)
	return errors.Join(s.old.ready(ctx), s.new.ready(ctx))
}

// changedInOld has the key copied again, or removes it from the new memcached.
func (s *session) changedInOld(raw []byte) error {
	collected, err := s.changes.add(raw)
	if !collected {
		s.handoff.counts.invalidated.Add(1)
		s.new.removals.remove(keyOf(raw))
	}
	return err
}

// changedInNew removes the key from the old memcached.
func (s *session) changedInNew(raw []byte) error {
	s.handoff.counts.used.Store(s.handoff.counts.copied.Load())
	s.handoff.counts.invalidated.Add(1)
	s.old.removals.remove(keyOf(raw))
	return nil
}

// removedFromOld follows changedInNew once the key is removed. The copy may have read the key before, and may have
// overwritten what a client stored in the new memcached. So until Copied this is a change like any other. It must not
// count earlier: the copy would read the key again before it is removed.
func (s *session) removedFromOld(raw []byte) error {
	if s.handoff.counts.copied.Load() {
		return nil
	}
	collected, err := s.changes.add(raw)
	if !collected {
		s.new.removals.remove(keyOf(raw))
	}
	return err
}

// flushed empties the other memcached, too. An empty one needs no copy.
func (s *session) flushed(other *side) error {
	if !s.handoff.counts.copied.Load() {
		return &Failure{Reason: Flushed, Err: errors.New("a client has emptied memcached")}
	}
	other.heartbeat.empty.Store(true)
	return nil
}

// oldEnded ends the session. All changes are known if the old memcached announced its end.
func (s *session) oldEnded(ctx context.Context, err error) {
	f := failure(Internal, err)
	if f.Reason == OldEnded && s.handoff.counts.copied.Load() && s.old.stream.announced {
		if err = s.new.sync(ctx); err == nil {
			err = errDone
		}
	}
	s.fail(err)
}

// resume begins again with two empty memcacheds.
func resume(ctx context.Context, s *session) error {
	s.changes.stop()
	s.old.heartbeat.empty.Store(true)
	s.new.heartbeat.empty.Store(true)
	return s.settle(ctx)
}

// settle waits until all that had happened before is known and done in both memcacheds, the old one first: what is
// removed from it may have to be removed from the new one, too.
func (s *session) settle(ctx context.Context) error {
	if err := errors.Join(s.old.heartbeat.wait(ctx), s.new.heartbeat.wait(ctx)); err != nil {
		return err
	}
	if err := s.old.sync(ctx); err != nil {
		return err
	}
	return s.new.sync(ctx)
}
