package handoff

// Handles the end of a memcached that keys leave.

import (
	"context"
	"slices"
)

// sourceEnded ends the session, unless it can continue without the source. All changes are known if the memcached
// announced its end. But if only some of its items were to move, the session ends with an error: the other items are
// lost, and the session does not know which Pod replaces the memcached.
func (s *session) sourceEnded(ctx context.Context, source *side, err error) {
	if failure(Internal, err).Reason == OldEnded && s.handoff.counts.copied.Load() && source.stream.announced &&
		slices.Contains(s.move.Leaving, source.number) {
		if err = s.sync(ctx, s.move.Targets); err == nil {
			err = errDone
		}
	}
	source.fail(err)
}
