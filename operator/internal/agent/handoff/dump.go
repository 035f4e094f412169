package handoff

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

const (
	// busyFor is how long the LRU crawler of memcached may be busy. It serves one request at a time.
	busyFor = time.Minute

	retryBusy = 100 * time.Millisecond
)

// errBusy means that the dump can be tried again.
var errBusy = errors.New("memcached's LRU crawler is busy")

// dump passes the keys that move on, in batches.
func (c *copier) dump(ctx context.Context) {
	keys, err := list(ctx, c.from.Dial, func() { c.counts.skipped.Add(1) })
	if err != nil {
		c.from.lost(err)
		return
	}
	defer keys.close()
	d := &dump{copier: c, batches: map[int][]key{}}
	spans := keys.hottest(c.room)
	c.counts.skipped.Add(keys.left(spans))
	err = keys.eachOf(c.ordered(spans), func(k key) error { return d.add(ctx, k) })
	for to := range d.batches {
		err = errors.Join(err, d.pass(ctx, to))
	}
	if d.late > 0 {
		c.handoff.Log.Warn("There is no time to copy the coldest keys", "keys", d.late)
	}
	if err != nil {
		c.from.lost(err)
		return
	}
	close(c.dumped)
}

// ordered returns the spans, of which the first is the hottest, in the order in which their keys are copied: the
// coldest first, as memcached evicts first what came first. But if the time may not suffice, the hottest of the rest
// is next.
func (c *copier) ordered(spans []span) iter.Seq[span] {
	return func(yield func(span) bool) {
		for len(spans) > 0 {
			next := len(spans) - 1
			if c.handoff.hurries(time.Now()) {
				next = 0
			}
			if !yield(spans[next]) {
				return
			}
			spans = slices.Delete(spans, next, next+1)
		}
	}
}

// dump is a dump in progress.
type dump struct {
	*copier

	batches map[int][]key // by server
	late    int           // keys for which there is no time
}

// add adds a key to a batch, if it moves, and passes the batch on if it is full.
func (d *dump) add(ctx context.Context, k key) error {
	from, to := d.move.Of(k.raw())
	d.listed.Add(1)
	switch {
	case from != d.from.number:
		d.misplaced.Add(1)
		return nil
	case from == to:
		return nil
	case d.handoff.isLate(time.Now()):
		d.late++
		d.counts.skipped.Add(1)
		return nil
	}
	d.batches[to] = append(d.batches[to], k)
	if len(d.batches[to]) < d.batchKeys {
		return nil
	}
	return d.pass(ctx, to)
}

// pass passes a batch on.
func (d *dump) pass(ctx context.Context, to int) error {
	keys := d.batches[to]
	delete(d.batches, to)
	select {
	case d.dumped <- batch{to: d.stores[to], keys: keys}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listEach calls found for the key of each item of a memcached.
func listEach(ctx context.Context, dial Dial, found func(key) error) error {
	keys, err := list(ctx, dial, func() {})
	if err != nil {
		return err
	}
	defer keys.close()
	return keys.each(all, found)
}

// list returns the keys of all items of a memcached, and calls unnamed for each item whose key no command can name.
//
// They are in a temporary file: as long as memcached sends a list, the thread of whoever requests another one waits,
// and all clients of that thread with it. If the list waited for items, and these for that thread, memcached would
// stand still. So no list lasts longer than it must.
func list(ctx context.Context, dial Dial, unnamed func()) (*spool, error) {
	keys, err := newSpool()
	if err != nil {
		return nil, &Failure{Reason: Internal, Err: err}
	}
	if err := keys.fill(ctx, dial, unnamed); err != nil {
		keys.close()
		return nil, err
	}
	return keys, nil
}

// fill lists all keys, as soon as memcached lists none for others.
func (s *spool) fill(ctx context.Context, dial Dial, unnamed func()) error {
	until := time.Now().Add(busyFor)
	for {
		err := s.tryFill(ctx, dial, unnamed)
		switch {
		case !errors.Is(err, errBusy):
			return err
		case time.Now().After(until):
			return &Failure{Reason: CrawlerBusy, Err: fmt.Errorf("%w for %s", err, busyFor)}
		}
		if err := Wait(ctx, retryBusy); err != nil {
			return err
		}
	}
}

func (s *spool) tryFill(ctx context.Context, dial Dial, unnamed func()) error {
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	defer connection.Close()
	// Of the two dumps, this one escapes keys: one of the binary protocol may have the end of the other dump in it.
	if _, err := connection.Write([]byte("lru_crawler metadump hash\r\n")); err != nil {
		return err
	}
	reader := bufio.NewReader(connection)
	for {
		text, err := readLine(reader)
		if err != nil {
			return err
		}
		switch {
		case text == "END":
			return nil
		case text == "OK":
		case strings.HasPrefix(text, dumpedKey):
			d, err := parseDump(text)
			if err != nil {
				return &Failure{Reason: Internal, Err: err}
			}
			if len(d.token) > maxToken {
				unnamed()
			} else if err := s.add(d); err != nil {
				return &Failure{Reason: Internal, Err: fmt.Errorf("list the keys in a temporary file: %w", err)}
			}
		case strings.HasPrefix(text, "BUSY"), strings.HasPrefix(text, "ERROR locked"):
			return errBusy
		case strings.Contains(text, "not allowed"), strings.Contains(text, "disabled"):
			return &Failure{Reason: DumpForbidden, Err: fmt.Errorf("memcached answers %q", text)}
		default:
			return &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers %.200q to metadump", text)}
		}
	}
}

// remove removes the items of some keys of a memcached. One that does not answer is not waited for.
func remove(ctx context.Context, dial Dial, which func(raw []byte) bool) error {
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := protocol.New(connection).Ask(ctx, "mn\r\n"); err != nil {
		return err
	}
	answered := make(chan error, 1)
	r := newRemovals(connection, func(error) {}) // run returns it, too
	go func() { answered <- r.run() }()
	err = listEach(ctx, dial, func(k key) error {
		if which(k.raw()) {
			r.remove(k)
		}
		return nil
	})
	r.flush()
	hangUp(connection)
	return errors.Join(err, ignoreEnd(<-answered))
}

// ignoreEnd returns nil if memcached has closed the connection. With TLS, it answers the end of the commands by an
// alert: OpenSSL misses the one that announces it.
func ignoreEnd(err error) error {
	alert, ok := errors.AsType[*net.OpError](err)
	if errors.Is(err, io.EOF) || ok && alert.Op == "remote error" {
		return nil
	}
	return err
}
