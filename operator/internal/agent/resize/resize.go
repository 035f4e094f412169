// Package resize changes how much memory a memcached has for items, while it serves.
package resize

// Checks whether a memcached has the memory that it should have, and if not, changes it.

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
)

const (
	// interval is the interval at which memcached's memory is checked, even if the wanted memory has not changed: after a
	// restart, memcached has the memory that it starts with.
	interval = time.Second

	// within limits how long a memcached may take to answer a command.
	within = 10 * time.Second

	// busy is how long to wait while memcached moves a page.
	busy = time.Millisecond

	// stalledAfter is how long memcached may take to give up a page.
	stalledAfter = 2 * time.Second

	mebibyte = 1 << 20
)

// Follower keeps a memcached at the wanted memory.
type Follower struct {
	// Wanted returns the memory for items, in bytes and whole mebibytes; 0 means the memory that memcached starts with.
	Wanted func() int64

	// Dial connects to memcached.
	Dial handoff.Dial

	Log *slog.Logger

	undone report.Problem
}

// Run gives memcached the wanted memory, again and again, until the context ends.
func (f *Follower) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if wanted := f.Wanted(); wanted > 0 {
			f.undone.Log(f.Log, "The memory for items can't be changed yet", f.Give(ctx, wanted))
		}
		_ = handoff.Wait(ctx, interval)
	}
}

// Give changes the memory for items to this many bytes. It does nothing if memcached already has this limit, and has
// not taken more memory.
func (f *Follower) Give(ctx context.Context, wanted int64) error {
	connection, err := f.Dial(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	m := &memcached{protocol.New(connection).Within(within), f.Dial}
	general, err := m.client.Stats(ctx, "")
	if err != nil {
		return err
	}
	limit, err := strconv.ParseInt(general["limit_maxbytes"], 10, 64)
	if err != nil {
		return fmt.Errorf("memcached has the limit %q", general["limit_maxbytes"])
	}
	pages, err := m.pages(ctx)
	if err != nil || limit == wanted && pages.fit(wanted) {
		return err
	}
	began := time.Now()
	removed, err := m.resize(ctx, pages, wanted)
	if err == nil {
		f.Log.Info("The memory for items is changed", "from", limit, "to", wanted, "keysRemoved", removed,
			"took", time.Since(began).Round(time.Millisecond).String())
	}
	return err
}

// memcached is a memcached whose memory is changed.
type memcached struct {
	client *protocol.Client
	dial   handoff.Dial
}

// resize changes the memory, and returns how many keys it removed for that. To reduce the memory, it first removes the
// coldest keys that will not fit, so that memcached finds room for the other keys of a page that it releases. While
// these keys are removed, memcached may take no more memory than it has.
func (m *memcached) resize(ctx context.Context, now pages, wanted int64) (removed int64, err error) {
	if now.taken > wanted {
		if err := m.limit(ctx, now.taken); err != nil {
			return 0, err
		}
		if removed, err = handoff.Trim(ctx, m.dial, wanted); err != nil {
			return removed, fmt.Errorf("remove the coldest keys: %w", err)
		}
	}
	if err := m.limit(ctx, wanted); err != nil {
		return removed, err
	}
	return removed, m.giveBack(ctx, wanted)
}

// limit sets memcached's limit of the memory for items.
func (m *memcached) limit(ctx context.Context, bytes int64) error {
	command := fmt.Sprintf("cache_memlimit %d", (bytes+mebibyte-1)/mebibyte)
	answer, err := m.client.Ask(ctx, command+"\r\n")
	if err == nil && answer != "OK" {
		err = fmt.Errorf("memcached answers %q to %s", answer, command)
	}
	return err
}

// giveBack makes memcached release pages until it has no more memory than wanted.
func (m *memcached) giveBack(ctx context.Context, wanted int64) error {
	least, since := int64(math.MaxInt64), time.Now()
	for {
		now, err := m.pages(ctx)
		switch {
		case err != nil || now.taken <= wanted:
			return err
		case now.taken < least:
			least, since = now.taken, time.Now()
		case time.Since(since) > stalledAfter && now.fit(wanted):
			return nil
		case time.Since(since) > stalledAfter:
			return fmt.Errorf("memcached keeps %d MiB for items, and releases no more: use memcached 1.6.42 or newer, "+
				"which releases them",
				now.taken/mebibyte)
		}
		if err := m.giveUp(ctx, now, (now.taken-wanted+mebibyte-1)/mebibyte); err != nil {
			return err
		}
	}
}

// giveUp makes memcached release up to this many pages of the class with most room.
func (m *memcached) giveUp(ctx context.Context, now pages, count int64) error {
	const most = 16 // after that, giveBack looks again for the class with most room
	for range min(count, most) {
		answer, err := m.client.Ask(ctx, fmt.Sprintf("slabs reassign %d 0\r\n", now.roomiest))
		switch known, _, _ := strings.Cut(answer, " "); {
		case err != nil:
			return err
		case known == "OK", known == "BUSY", known == "NOSPARE", known == "BADCLASS", known == "SAME":
		default:
			return fmt.Errorf("memcached answers %q to slabs reassign: "+
				"start it with -o slab_reassign, which is its default", answer)
		}
		if err := handoff.Wait(ctx, busy); err != nil {
			return err
		}
	}
	return nil
}
