package handoff

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
	batches := map[int][]key{}
	pass := func(to int) error {
		keys := batches[to]
		delete(batches, to)
		select {
		case c.dumped <- batch{to: c.stores[to], keys: keys}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := list(ctx, c.from.Dial, func(k key) error {
		from, to := c.move.Of(k.raw())
		c.listed.Add(1)
		if from != c.from.number {
			c.misplaced.Add(1)
			return nil
		}
		if from == to {
			return nil
		}
		batches[to] = append(batches[to], k)
		if len(batches[to]) < c.batchKeys {
			return nil
		}
		return pass(to)
	}, func() { c.counts.skipped.Add(1) })
	for to := range batches {
		err = errors.Join(err, pass(to))
	}
	if err != nil {
		c.from.lost(err)
		return
	}
	close(c.dumped)
}

// list calls found for the key of each item of a memcached, and unnamed for each item whose key no command can name.
//
// All keys are listed in a temporary file first: as long as memcached sends a list, the thread of whoever requests
// another one waits, and all clients of that thread with it. If the list waited for items, and these for that thread,
// memcached would stand still. So no list lasts longer than it must.
func list(ctx context.Context, dial Dial, found func(key) error, unnamed func()) error {
	keys, err := newSpool()
	if err != nil {
		return &Failure{Reason: Internal, Err: err}
	}
	defer keys.close()
	if err := spoolKeys(ctx, dial, keys, unnamed); err != nil {
		return err
	}
	return keys.each(found)
}

// spoolKeys lists all keys, as soon as memcached lists none for others.
func spoolKeys(ctx context.Context, dial Dial, keys *spool, unnamed func()) error {
	until := time.Now().Add(busyFor)
	for {
		err := trySpool(ctx, dial, keys, unnamed)
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

func trySpool(ctx context.Context, dial Dial, keys *spool, unnamed func()) error {
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
			k, err := parseDump(text)
			if err != nil {
				return &Failure{Reason: Internal, Err: err}
			}
			if len(k.token) > maxToken {
				unnamed()
			} else if err := keys.add(k); err != nil {
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
	err = list(ctx, dial, func(k key) error {
		if which(k.raw()) {
			r.remove(k)
		}
		return nil
	}, func() {})
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
