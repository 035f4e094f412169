package handoff

// Handles a memcached that ends, and answers again later, while the session continues.

import (
	"context"
	"errors"
	"time"
)

const (
	// quiet is a length of time: if no client has used a memcached for at least that long when it ends, the session
	// assumes that it knows all changes by clients there.
	quiet = 10 * time.Second

	// lookAgain is the interval at which the session tries to connect to an absent memcached.
	lookAgain = time.Second

	// gathered is how long a session that resumes waits for absent memcacheds. It may take some seconds until a
	// NetworkPolicy allows the connections of a new Pod.
	gathered = 10 * time.Second
)

var errAbsent = errors.New("memcached has ended again")

// lose is called after an error of a memcached. If the session survives this, it continues without this memcached;
// otherwise, it ends.
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
// the last second of its log may be missing. If clients changed or missed a key there in its last seconds, the missing
// part of the log may have further changes, so all keys of this source are removed from the targets. If they did not,
// the keys stay, and a change remains unknown only if a client made it in the last second, after no client had used
// this memcached for some seconds. If a target ends, nothing is removed, because no client finds a key there until it
// answers again.
func (s *session) continueWithout(ctx context.Context, side *side, err error) {
	side.leave()
	reason, silent := failure(Internal, err).Reason, time.Since(time.Unix(0, side.lastUsed.Load()))
	forgets := s.move.isSource(side.number) && (reason != OldEnded || silent < quiet)
	if ctx.Err() != nil {
		return
	}
	s.handoff.Log.Warn("A memcached has ended or does not answer, "+
		"and the others are kept consistent without it", "server", side.Name, "error", err,
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

// noteEnd is called when the session continues without a memcached. If this memcached was the last of the sources,
// noteEnd logs that all of them have ended.
func (s *session) noteEnd(side *side) {
	if s.move.isSource(side.number) && int(s.ended.Add(1)) == len(s.move.Sources) {
		s.handoff.Log.Info("All old memcacheds have ended, so clients use only the new ones")
	}
}

// await waits until an absent memcached answers, and then continues with it.
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

// continueWith continues with a memcached that answers again. The changes that clients made there in the meantime are
// unknown, so all keys that move to or from this memcached are removed from it and from the others.
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

// gather waits until no memcached is absent any more, but no longer than gathered.
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
