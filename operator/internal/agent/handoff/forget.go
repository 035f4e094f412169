package handoff

// Removes keys if it is not known what clients changed.

import (
	"context"
	"time"
)

// forgetAgainAfter is the least time between two removals of keys if the log of a memcached keeps losing lines.
const forgetAgainAfter = time.Second

// survives reports whether the session continues if a memcached ends, or if a part of its log is lost. The session
// continues if the sources are outside of the cache and it copies nothing any more. It then only follows the changes by
// clients, and no other agent would follow them.
func (s *session) survives() bool { return s.move.external && s.settled.Load() }

// unknown is called when changes in a memcached are unknown. If the session survives this, keys are removed only from
// the other memcacheds: the memcached itself is up to date, but the others may have outdated items of the keys that
// they share with it.
func (s *session) unknown(side *side, err error) error {
	if !s.survives() {
		return err
	}
	s.handoff.counts.lose(failure(Internal, err).Reason)
	select {
	case side.gaps <- struct{}{}:
		s.handoff.Log.Warn("Changes in a memcached are not known, so its keys are removed from the other side",
			"server", side.Name, "error", err)
	default:
	}
	return nil
}

// fillGaps acts whenever changes in one memcached are unknown: it removes from the other memcacheds the keys that they
// share with this one.
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

// forget removes from the other memcacheds the keys that they share with one memcached. If both is true, it also
// removes these keys from that memcached itself. It returns an error only if the session ends.
func (s *session) forget(ctx context.Context, side *side, both bool) error {
	s.forgetting.Lock() // memcached's crawler makes one list at a time
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

// removeKeys removes keys of a memcached, not faster than its log can take, and returns when they are removed. If this
// fails, the memcached counts as lost, and removeKeys returns an error only if the session ends because of that.
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
