// Package handoff copies items between memcacheds, and keeps these memcacheds consistent as long as clients use them
// all. It knows memcached's protocol, and nothing of Kubernetes. A Move says which items move: all items of one
// memcached into the one that takes its place, or the items whose server changes because clients get another list of
// servers.
//
// For each key, "the old memcached" is the one that has the key, and "the new memcached" is the one that is to have it.
// These steps, in this order, keep the copies correct:
//
//  1. A Handoff watches the logs of all memcacheds for stored, deleted and missing keys. See stream and heartbeat.
//  2. It copies the items. Items that change in the meantime are copied again. See dump, copy and forward.
//  3. It calls Copied. From then on, clients use both the old and the new memcached, and each key that changes in one
//     of them is removed from the other, because a missing key is never wrong.
//  4. No client uses the old memcached any more, because it has ended, or because all clients have the new list. If a
//     memcached announced its end (see End), all changes there are known.
//
// Memcached does not log everything. Values that are numbers are not copied, because incr and decr change them without
// a line. The package does not notice a changed time to live (touch, gat, mg with T), an item that is marked as stale
// (md with I), a deletion by the binary protocol, or flush_all with a delay.
//
// If changes in one memcached are not known, the keys that move between it and the others are removed: see forget and
// absence.
//
// Memcached needs large buffers for its log. If worker_logbuf_size has its default of 64 KiB, memcached loses lines
// when it gets a few thousand commands in a millisecond, and the copy is ten times slower. Before memcached 1.6.40,
// setting that option spoils the slab classes.
package handoff

// Runs a handoff from beginning to end.

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
	attempts     = 3               // how often Run and Resume try to keep both consistent
	attemptAfter = time.Second     // the wait before each further attempt
	emptyWithin  = 5 * time.Second // how long emptying a memcached may take
	searchWithin = time.Minute     // how long it may take if the agent has to search the keys

	// endOfCopy is the least time that is left for the end of a copy, if possible. In this time, changed keys are
	// copied again, and the operator learns that the copy is complete.
	endOfCopy = 5 * time.Second
)

// Dial opens a connection to one memcached, with a login and through TLS if that memcached requires them.
type Dial func(ctx context.Context) (net.Conn, error)

// Settings are the settings of a handoff that a user can change.
type Settings struct {
	// Rate limits the copy, in bytes of keys and values per second. 0 is no limit.
	Rate int64

	// Within is for how long after the call of Run the old memcached is certain to serve. If the copy would take longer,
	// it exceeds Rate. 0 means that the time is unknown. A call of Hurry before Run replaces Within.
	Within time.Duration

	// Until is when the copy has to be complete. Keys that are not copied by then are left out; these are the coldest.
	// Zero means no limit.
	Until time.Time
}

// Handoff moves items. It is for one call of Run or Resume.
type Handoff struct {
	Move     Move
	Settings Settings

	// Hold, unless it is nil, delays the end of the copy: until it is closed, changed keys are copied again.
	Hold <-chan struct{}

	// Followed, unless it is nil, is called once every item is in its new memcached. Changed keys are then still copied
	// again.
	Followed func()

	// Copied is called once every item is in its new memcached, and clients may use the new memcacheds. Resume calls it
	// once the items are removed from both the old and the new memcacheds.
	Copied func()

	Log *slog.Logger

	report func() // calls Copied, but only once
	counts counts
	due    atomic.Pointer[time.Time] // when the copy has to be complete; nil if that is unknown
	late   atomic.Pointer[time.Time] // when the end of the copy has to begin, because of due or Until

	left    atomic.Int64 // about how many bytes of the lists are still to be copied
	speed   speed        // at which the keys of the lists are copied
	hurried atomic.Bool  // whether the hottest keys are copied first
}

// Hurry sets for how long, from now, the old memcached is certain to serve: as Settings.Within does, but also during a
// copy.
func (h *Handoff) Hurry(within time.Duration) {
	if within > 0 {
		h.due.Store(new(time.Now().Add(within)))
		h.endsWithin(within)
	}
}

// endsWithin makes the end of the copy begin early enough for the copy to end within this limit. It changes nothing if
// an earlier limit is set.
func (h *Handoff) endsWithin(limit time.Duration) {
	at := time.Now().Add(limit - min(limit/2, max(endOfCopy, limit/10)))
	if late := h.late.Load(); late == nil || at.Before(*late) {
		h.late.Store(&at)
	}
}

// Run removes from the new memcacheds the keys that are to be copied, copies all items, calls Copied, and keeps the
// memcacheds consistent. It returns nil once an old memcached whose items all moved has ended and nothing is left to
// do. It returns the context's error if the context ends before that, and a *Failure if the handoff fails.
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

// Resume keeps the memcacheds consistent if clients already use both the old and the new ones, but some of the changes
// by clients are unknown. The reason says why they are unknown. Resume first removes, from the old and the new
// memcacheds, the keys that move. It removes most of these keys before it watches the logs, because the log of a
// memcached can't take that many lines.
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
// memcacheds, it removes from both the keys that move, and tries to keep both consistent from then on. If clients use
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
		h.Log.Warn("The handoff failed: the keys that move are removed from both sides, "+
			"which are then kept consistent again", "reason", f.Reason, "server", f.Server,
			"error", f.Err)
		if Wait(ctx, attemptAfter) == nil {
			err = h.run(ctx, resume)
		}
	}
}

// giveUp removes the keys of an unfinished copy if no other Pod removes them, because these keys would be outdated once
// clients use the new memcacheds.
func (h *Handoff) giveUp(ctx context.Context) {
	if h.Move.external && !h.counts.copied.Load() && !h.empty(context.WithoutCancel(ctx), false) {
		h.Log.Error("The copied keys could not be removed from the new memcacheds, where they may be outdated")
	}
}

// empty removes from the new memcacheds the keys that move. If both is true, it also removes them from the old ones. It
// returns whether that succeeded.
func (h *Handoff) empty(ctx context.Context, both bool) bool {
	ctx, cancel := context.WithTimeout(ctx, h.Move.cleanWithin())
	defer cancel()
	return h.Move.clean(ctx, both) == nil
}
