// Package handoff copies items between memcacheds, and keeps those consistent as long as clients use both. It knows
// memcached's protocol, and nothing of Kubernetes. A Move says what moves: all items of one memcached into the one that
// takes its place, or those whose server changes with the list of servers.
//
// For each key by itself, the old memcached is the one that has it, and the new one is the one that is to have it. This
// order keeps the copies correct:
//
//  1. It watches the log of all memcacheds: stored, deleted and missing keys. See stream and heartbeat.
//  2. It copies the items. What changes in the meantime is copied again. See dump, copy and forward.
//  3. It calls Copied. From then on clients use both, and each key that changes in one of them is removed from the
//     other, because a missing key is never wrong.
//  4. No client uses the old one any more, because it has ended, or because all have the new list. If a memcached that
//     ends has announced that (see End), all its changes are known.
//
// Memcached does not log everything. Values that are numbers are not copied, because incr and decr change them without
// a line. Not noticed are: a changed time to live (touch, gat, mg with T), an item that is marked as stale (md with I),
// deletions of the binary protocol, and flush_all with a delay.
//
// If changes in one memcached are not known, the keys that it shares with the others are removed: see forget and
// absence.
//
// Memcached needs buffers for its log: with worker_logbuf_size at its default of 64 KiB it loses lines at a few
// thousand commands in a millisecond, and the copy is ten times slower. Before 1.6.40 that option spoils the slabs.
package handoff

// A handoff from beginning to end.

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// OldConnections and NewConnections are how many connections a handoff opens at most to each old and to each new
// memcached, in addition to those of clients. Memcached's --conn-limit must include them.
const (
	OldConnections = 6
	NewConnections = 5
)

const (
	attempts     = 3               // to keep both consistent again
	attemptAfter = time.Second     // if it failed
	emptyWithin  = 5 * time.Second // a memcached that does not answer
	searchWithin = time.Minute     // the same, with many keys to look through

	// endOfCopy is the least time that is left for the end of a copy, if possible. In this time, changed keys are
	// copied again, and the operator learns that the copy is complete.
	endOfCopy = 5 * time.Second
)

// Dial opens a connection to one memcached, logged in and through TLS as that cache needs.
type Dial func(ctx context.Context) (net.Conn, error)

// Settings are the settings of a handoff that a user can change.
type Settings struct {
	// Rate limits the copy, in bytes of keys and values per second. 0 is no limit.
	Rate int64

	// Within is for how long the old memcached is certain to serve, counted from Run or from an earlier call of Hurry.
	// Rate is exceeded if the copy would take longer. 0 means that the time is unknown.
	Within time.Duration

	// Until is when the copy has to be complete. Keys that are not copied by then are left out: the coldest. Zero means
	// no limit.
	Until time.Time
}

// Handoff moves items. It serves one Run or Resume.
type Handoff struct {
	Move     Move
	Settings Settings

	// Hold, unless it is nil, delays the end of the copy: until it is closed, changed keys are copied again.
	Hold <-chan struct{}

	// Followed, unless it is nil, is called once every item is in its new memcached. Changed keys are then still copied
	// again.
	Followed func()

	// Copied is called once every item is in its new memcached, and clients may use it. Resume calls it once the items
	// are removed from both the old and the new memcacheds.
	Copied func()

	Log *slog.Logger

	report func() // Copied, once
	counts counts
	due    atomic.Pointer[time.Time] // when the copy has to be complete; nil if that is unknown
	late   atomic.Pointer[time.Time] // when the end of the copy has to begin, because of due or Until

	left    atomic.Int64 // about how many bytes of the lists are still to be copied
	speed   speed        // at which the keys of the lists are copied
	hurried atomic.Bool  // whether the hottest keys are copied first
}

// Hurry sets Within of a copy in progress.
func (h *Handoff) Hurry(within time.Duration) {
	if within > 0 {
		h.due.Store(new(time.Now().Add(within)))
		h.endsWithin(within)
	}
}

// endsWithin makes the end of the copy begin early enough for this limit, unless an earlier limit does.
func (h *Handoff) endsWithin(limit time.Duration) {
	at := time.Now().Add(limit - min(limit/2, max(endOfCopy, limit/10)))
	if late := h.late.Load(); late == nil || at.Before(*late) {
		h.late.Store(&at)
	}
}

// Run removes the keys that are to be copied from the new memcacheds, copies all items, calls Copied, and keeps the
// memcacheds consistent. It returns nil once an old memcached whose items all moved has ended and nothing is left to
// do. If the context ends before that, it returns the context's error, and otherwise a *Failure.
func (h *Handoff) Run(ctx context.Context) error {
	h.report = sync.OnceFunc(h.Copied)
	if h.due.Load() == nil {
		h.Hurry(h.Settings.Within)
	}
	if !h.Settings.Until.IsZero() {
		h.endsWithin(time.Until(h.Settings.Until))
	}
	err := h.Move.check(ctx)
	if err != nil {
		return err
	}
	if err = h.Move.clean(ctx, false); err != nil {
		err = failure(NewUnreachable, err)
	} else {
		err = h.run(ctx, copyItems)
	}
	return h.finish(ctx, err)
}

// Resume keeps the memcacheds consistent if clients already use both the old and the new ones, but some changes since
// then are unknown, for this reason. So it first removes the keys that move from both. It removes most of them before
// it watches the memcacheds, because the log of a memcached can't take that many lines.
func (h *Handoff) Resume(ctx context.Context, reason string) error {
	h.report = sync.OnceFunc(h.Copied)
	h.counts.copied.Store(true)
	h.counts.used.Store(true)
	h.counts.lose(reason)
	if !h.Move.whole {
		h.empty(ctx, true) // A memcached that does not answer is emptied later.
	}
	return h.finish(ctx, h.run(ctx, resume))
}

// finish returns the result of Run and Resume. If the failure came when clients already used both the old and the new
// memcacheds, it removes the keys that move from both, and tries to keep both consistent from then on. If clients use
// only the old ones, these have all that clients wrote, and stay as they are.
func (h *Handoff) finish(ctx context.Context, err error) error {
	for attempt := 1; ; attempt++ {
		if errors.Is(err, errDone) {
			return nil
		}
		if ctx.Err() != nil {
			h.giveUp(ctx)
			return ctx.Err()
		}
		f := failure(Internal, err)
		h.counts.lose(f.Reason)
		f.AfterCopied = h.counts.used.Load()
		f.NotEmptied = !h.empty(ctx, f.AfterCopied)
		if !f.AfterCopied || attempt == attempts || f.Reason == OldEnded || f.Reason == NewEnded {
			return f
		}
		h.Log.Warn("the handoff begins again without the keys that move", "reason", f.Reason, "server", f.Server,
			"error", f.Err)
		if Wait(ctx, attemptAfter) == nil {
			err = h.run(ctx, resume)
		}
	}
}

// giveUp removes an unfinished copy if no other Pod does: it would be outdated once clients use it.
func (h *Handoff) giveUp(ctx context.Context) {
	if h.Move.external && !h.counts.copied.Load() && !h.empty(context.WithoutCancel(ctx), false) {
		h.Log.Error("The keys that were copied could not be removed: they may be outdated")
	}
}

// empty removes the keys that move from the new memcacheds and, with both, also from the old ones. It returns whether
// that worked.
func (h *Handoff) empty(ctx context.Context, both bool) bool {
	ctx, cancel := context.WithTimeout(ctx, h.Move.cleanWithin())
	defer cancel()
	return h.Move.clean(ctx, both) == nil
}
