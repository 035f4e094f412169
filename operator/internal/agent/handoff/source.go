package handoff

// What follows from the end of a memcached that keys leave.

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"
)

const (
	// quiet is for how long clients have to leave a memcached alone for its end to be no loss.
	quiet = 10 * time.Second

	// lookAgain is how often a memcached that has ended is tried.
	lookAgain = time.Second
)

// sourceEnded ends the session, unless it can continue without the source. All changes are known if the memcached
// announced its end. If only some of its items moved, the others are lost, and nobody knows here which Pod takes its
// place.
func (s *session) sourceEnded(ctx context.Context, source *side, err error) {
	hasEnded := failure(Internal, err).Reason == OldEnded
	switch {
	case hasEnded && s.move.external && s.settled.Load():
		if err = s.leaveOut(ctx, source); err == nil {
			return
		}
	case hasEnded && s.handoff.counts.copied.Load() && source.stream.announced &&
		slices.Contains(s.move.Leaving, source.number):
		if err = s.sync(ctx, s.move.Targets); err == nil {
			err = errDone
		}
	}
	s.fail(err)
}

// leaveOut continues without a source that is no Pod of the cache. It did not announce its end, so the end of its log
// may be missing: up to a second of it. If clients changed or missed a key there in its last seconds, they may have
// done so in that time, too, and all its keys are removed from the targets. Otherwise they stay. What remains unknown
// is only a change in the last second of a memcached that no client had changed for some seconds before.
func (s *session) leaveOut(ctx context.Context, source *side) error {
	source.absent.Store(true)
	silent := time.Since(time.Unix(0, source.lastUsed.Load()))
	if silent < quiet {
		s.handoff.counts.lose(OldEnded)
		if err := s.removeKeysOf(ctx, source); err != nil {
			return err
		}
	}
	s.handoff.Log.Info("An old memcached has ended, and the handoff continues without it", "server", source.Name,
		"unusedFor", silent.Round(time.Millisecond).String(), "keysRemoved", silent < quiet)
	s.await(ctx, source)
	return s.sync(ctx, s.move.Targets)
}

// removeKeysOf removes the keys of a source from the targets.
func (s *session) removeKeysOf(ctx context.Context, source *side) error {
	for _, number := range s.move.Targets {
		target := s.sides[number]
		err := list(ctx, target.Dial, func(k key) error {
			if from, _ := s.move.Of(k.raw()); from == source.number {
				target.removals.remove(k)
			}
			return nil
		}, func() {})
		if err != nil {
			return target.failure(err)
		}
	}
	return nil
}

// await ends the session when a source that has ended answers again: clients may use it, and nothing follows what they
// change there.
func (s *session) await(ctx context.Context, source *side) {
	if int(s.ended.Add(1)) == len(s.handoff.Move.Sources) {
		s.handoff.Log.Info("All old memcacheds have ended: clients use the new ones only")
	}
	go func() {
		for Wait(ctx, lookAgain) == nil {
			connection, err := source.Dial(ctx)
			if isDown(err) {
				continue
			}
			if err == nil {
				_ = connection.Close()
			}
			s.fail(source.named(&Failure{Reason: OldUnreachable, Err: errors.New("it had ended, and has started again")}))
			return
		}
	}()
}

// isDown reports whether nothing listens where a memcached was.
func isDown(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}

// open opens the connections of a side. Once all was copied, a source that is no Pod of the cache may have ended.
func (s *session) open(ctx context.Context, side *side) error {
	err := side.open(ctx)
	if !s.move.external || !s.move.isSource(side.number) || !s.handoff.counts.copied.Load() || !isDown(err) {
		return err
	}
	side.absent.Store(true)
	s.handoff.Log.Warn("An old memcached does not answer, and the handoff begins without it",
		"server", side.Name, "error", err)
	s.await(ctx, side)
	return nil
}

// present returns the sides that have not ended.
func (s *session) present() []*side {
	return slices.DeleteFunc(slices.Clone(s.sides), func(side *side) bool { return side.absent.Load() })
}
