package handoff

// What is removed where it is not known what clients changed.

import (
	"context"
	"time"
)

// forgetAgainAfter is how long a memcached whose log keeps losing lines is left alone.
const forgetAgainAfter = time.Second

// survives reports whether the session continues without a memcached, or a part of its log: it does once it only
// follows clients of memcacheds that are no Pods of the cache. Nobody else would.
func (s *session) survives() bool { return s.move.external && s.settled.Load() }

// unknown acts on changes in a memcached that are not known. If the session survives, the memcached itself is right,
// and only what it shares with others may be outdated there.
func (s *session) unknown(side *side, err error) error {
	if !s.survives() {
		return err
	}
	s.handoff.counts.lose(failure(Internal, err).Reason)
	select {
	case side.gaps <- struct{}{}:
		s.handoff.Log.Warn("Changes in a memcached are not known, so that its keys are removed from the other side",
			"server", side.Name, "error", err)
	default:
	}
	return nil
}

// fillGaps forgets what a memcached shares with the others whenever changes in it are not known.
func (s *session) fillGaps(ctx context.Context, side *side) {
	for {
		select {
		case <-side.gaps:
		case <-side.left:
			return
		}
		if s.forget(ctx, side, false) != nil || Wait(ctx, forgetAgainAfter) != nil {
			return
		}
	}
}

// forget removes from all others what they share with a memcached, and with both from that one, too. Its error is that
// of the session.
func (s *session) forget(ctx context.Context, side *side, both bool) error {
	s.forgetting.Lock() // memcached's crawler serves one at a time
	defer s.forgetting.Unlock()
	for _, other := range s.present() {
		forgotten := func(raw []byte) bool { return s.move.isShared(raw, side.number, other.number) }
		switch {
		case other.number == side.number && both:
			forgotten = func(raw []byte) bool { return s.move.moves(raw, side.number) }
		case !s.move.mayShare(side.number, other.number):
			continue
		}
		if err := s.removeKeys(ctx, other, forgotten); err != nil {
			return err
		}
	}
	return nil
}

// removeKeys removes keys of a memcached, not faster than its log can take, and returns when they are removed. If that
// fails, the memcached is lost, and there is an error only if the session ends with it.
func (s *session) removeKeys(ctx context.Context, side *side, which func(raw []byte) bool) error {
	present, cancel := side.whilePresent(ctx)
	defer cancel()
	inLog, removed := max(minBatch, side.logBuffer/bytesPerKey), 0
	err := listEach(present, side.Dial, func(k key) error {
		if !which(k.raw()) {
			return nil
		}
		side.removals.remove(k)
		if removed++; removed%inLog == 0 {
			return side.sync(present)
		}
		return nil
	})
	if err == nil {
		err = side.sync(ctx)
	}
	if err != nil && !s.survives() {
		return side.failure(err)
	}
	if err != nil {
		side.lost(err)
	}
	return context.Cause(ctx)
}
