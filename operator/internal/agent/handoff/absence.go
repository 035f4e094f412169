package handoff

// A memcached that ends, and answers again, while the session continues.

import (
	"context"
	"errors"
	"time"
)

const (
	// quiet is how long clients must not have used a memcached, so that its end loses no change.
	quiet = 10 * time.Second

	// lookAgain is the interval at which the session tries to connect to an absent memcached.
	lookAgain = time.Second

	// gathered is how long the session waits for absent memcacheds when it begins. A NetworkPolicy allows a new Pod
	// only after some seconds.
	gathered = 10 * time.Second
)

var errAbsent = errors.New("memcached has ended again")

// lose ends the session because of an error of a memcached, or continues without it.
func (s *session) lose(ctx context.Context, side *side, err error) {
	if !s.survives() {
		s.fail(err)
		return
	}
	switch side.state.Swap(absent) {
	case kept:
		go s.continueWithout(ctx, side, err)
	case joining:
		side.leave()
	}
}

// continueWithout continues without a memcached until it answers again. A source does not announce its end, so up to
// the last second of its log may be missing. If clients changed or missed a key there in its last seconds, they may
// also have done so in the missing part, and all its keys are removed from the targets. Otherwise the keys stay: only a
// change in the last second of a memcached that no client had used for some seconds remains unknown. For a target,
// nothing is removed, because no client finds a key there until it answers again.
func (s *session) continueWithout(ctx context.Context, side *side, err error) {
	side.leave()
	reason, silent := failure(Internal, err).Reason, time.Since(time.Unix(0, side.lastUsed.Load()))
	forgets := s.move.isSource(side.number) && (reason != OldEnded || silent < quiet)
	if ctx.Err() != nil {
		return
	}
	s.handoff.Log.Warn("The others are kept consistent without a memcached", "server", side.Name, "error", err,
		"unusedFor", silent.Round(time.Millisecond).String(), "keysRemoved", forgets)
	if forgets {
		s.handoff.counts.lose(reason)
		if s.forget(ctx, side, false) != nil {
			return
		}
	}
	s.noteEnd(side)
	s.await(ctx, side.number)
}

// noteEnd logs when the last old memcached has ended.
func (s *session) noteEnd(side *side) {
	if s.move.isSource(side.number) && int(s.ended.Add(1)) == len(s.move.Sources) {
		s.handoff.Log.Info("All old memcacheds have ended: clients use the new ones only")
	}
}

// await continues with a memcached again once it answers.
func (s *session) await(ctx context.Context, number int) {
	for last := ""; Wait(ctx, lookAgain) == nil; {
		side := s.newSide(ctx, number)
		err := s.continueWith(ctx, side)
		if err == nil {
			return
		}
		side.state.Store(absent)
		side.leave()
		if text := err.Error(); text != last {
			s.handoff.Log.Info("A memcached does not answer yet", "server", side.Name, "error", text)
			last = text
		}
	}
}

// continueWith continues with a memcached that answers again. The changes by clients there are unknown, so all keys
// that move to or from it are removed from both sides.
func (s *session) continueWith(ctx context.Context, side *side) error {
	side.changes.stop()
	if err := side.open(ctx); err != nil {
		return err
	}
	s.follow(ctx, side)
	if err := side.ready(ctx); err != nil {
		return err
	}
	s.sides[side.number].Store(side)
	if err := s.forget(ctx, side, true); err != nil {
		return err
	}
	if !side.state.CompareAndSwap(joining, kept) {
		return errAbsent
	}
	if s.move.isSource(side.number) {
		s.ended.Add(-1)
	}
	s.handoff.Log.Info("A memcached answers again, and its keys are removed from both sides", "server", side.Name)
	return nil
}

// gather waits for the memcacheds that are absent, but not for long.
func (s *session) gather(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, gathered)
	defer cancel()
	for number := range s.sides {
		for s.side(number).state.Load() != kept {
			if Wait(ctx, pause) != nil {
				return
			}
		}
	}
}
