// Package handoff copies the items of one memcached into the one that takes its place, and keeps the two consistent
// until the old one has ended. It knows memcached's protocol, and nothing of Kubernetes.
package handoff

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// OldConnections and NewConnections are how many connections a handoff opens at most to each memcached, beside those
// of its clients. Memcached's --conn-limit must include them.
const (
	OldConnections = 6
	NewConnections = 5
)

// Dial opens a connection to one memcached, logged in and through TLS as that cache needs.
type Dial func(ctx context.Context) (net.Conn, error)

// Settings are what a user can set of a handoff.
type Settings struct {
	// Rate limits the copy, in bytes of keys and values per second. 0 is no limit.
	Rate int64
}

// Handoff moves the items of the old memcached into the new one.
type Handoff struct {
	Old, New Dial
	Settings Settings

	// Copied is called once: every item is in the new memcached, and clients may use it.
	Copied func()

	Log *slog.Logger
}

// Progress is how far a handoff is.
type Progress struct {
	// Keys and Bytes are the items that were copied so far, and the size of their keys and values.
	Keys, Bytes int64

	// TotalKeys and TotalBytes are what the old memcached held in the beginning, by its own statistics.
	TotalKeys, TotalBytes int64

	// Invalidated counts the keys that were removed from one memcached because they had changed in the other.
	Invalidated int64

	// Skipped counts the items that cannot be copied: numbers, stale items, items about to expire, and items that the
	// new memcached rejects.
	Skipped int64

	// Copied is whether Handoff.Copied was called.
	Copied bool
}

// Run copies all items, calls Copied, and keeps both memcacheds consistent. It returns nil once the old memcached has
// ended and nothing is left to do, the context's error if that ends first, and otherwise a *Failure.
func (h *Handoff) Run(context.Context) error { return errors.New("not written yet") }

// Resume keeps both memcacheds consistent after a restart of the agent, when the slot has moved already. What changed
// in between is unknown, so it empties both first.
func (h *Handoff) Resume(context.Context) error { return errors.New("not written yet") }

// Progress returns how far the handoff is. It may be called while Run runs.
func (h *Handoff) Progress() Progress { return Progress{} }

// Empty removes all items of a memcached.
func Empty(context.Context, Dial) error { return errors.New("not written yet") }

// End announces to the agent that took over the items of a memcached that this memcached ends now. Call it right
// before SIGUSR1, the signal at which memcached delivers the rest of its log: without the announcement, writes may be
// unknown, and the agent empties the new memcached.
func End(context.Context, Dial) error { return errors.New("not written yet") }
