package handoff

// Lists the keys of a memcached.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

const (
	// busyFor is how long to wait while the LRU crawler of memcached is busy: the crawler serves one request at a time.
	busyFor = time.Minute

	retryBusy = 100 * time.Millisecond
)

// errEnough is the cause when the listing of keys ends early: the keys that are listed by then are the whole list.
var errEnough = errors.New("there is no time to list more keys")

// errBusy means that memcached cannot make a list at the moment, and that the dump can be tried again.
var errBusy = errors.New("memcached's LRU crawler is busy")

// listEach calls found for the key of each item of a memcached.
func listEach(ctx context.Context, dial Dial, found func(key) error) error {
	keys, err := list(ctx, dial, anyKey, func() {})
	if err != nil {
		return err
	}
	defer keys.close()
	return keys.each(all(), func(k listed) error { return found(k.key) })
}

func anyKey(key) bool { return true }

// list returns the keys of those items of a memcached that are wanted, and calls unnamed for each item whose key no
// command can name.
//
// The keys are written to a temporary file, so that memcached does not send its list for longer than necessary. As long
// as memcached sends a list, a request for another list blocks the memcached thread that serves it, and all clients of
// that thread. If the list waited until items are copied, and the items waited for that thread, memcached would stand
// still. If the context ends because of errEnough, list returns the keys that it has by then. Memcached lists keys in
// the order of their hashes, so the missing keys are about as hot as the listed ones.
func list(ctx context.Context, dial Dial, wanted func(key) bool, unnamed func()) (*spool, error) {
	keys, err := newSpool()
	if err != nil {
		return nil, err
	}
	err = keys.fill(ctx, dial, wanted, unnamed)
	if err != nil && !errors.Is(context.Cause(ctx), errEnough) {
		keys.close()
		return nil, err
	}
	return keys, nil
}

// fill lists all keys, as soon as memcached lists no keys for other clients.
func (s *spool) fill(ctx context.Context, dial Dial, wanted func(key) bool, unnamed func()) error {
	until := time.Now().Add(busyFor)
	for {
		err := s.tryFill(ctx, dial, wanted, unnamed)
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

func (s *spool) tryFill(ctx context.Context, dial Dial, wanted func(key) bool, unnamed func()) error {
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	defer connection.Close()
	reader := bufio.NewReader(connection)
	if err := s.readTime(connection, reader); err != nil {
		return err
	}
	// Memcached has two kinds of dumps. Only this kind escapes keys. Without that, a key of the binary protocol may
	// contain the text with which a dump ends.
	if _, err := connection.Write([]byte("lru_crawler metadump hash\r\n")); err != nil {
		return err
	}
	for {
		text, err := readLine(reader)
		switch {
		case err != nil:
			return err
		case text == "END":
			return s.flush()
		case text == "OK":
		case strings.HasPrefix(text, dumpedKey):
			if err := s.addLine(text, wanted, unnamed); err != nil {
				return err
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

// readTime reads memcached's clock, because the times of a list refer to it, and the clock of this Node may differ.
func (s *spool) readTime(connection net.Conn, reader *bufio.Reader) error {
	if _, err := connection.Write([]byte("stats\r\n")); err != nil {
		return err
	}
	for {
		text, err := readLine(reader)
		if err != nil || text == "END" {
			return err
		}
		if now, isTime := strings.CutPrefix(text, "STAT time "); isTime {
			s.now, _ = strconv.ParseInt(now, 10, 64)
		}
	}
}

// addLine adds the key of a line of a dump, if it is wanted.
func (s *spool) addLine(text string, wanted func(key) bool, unnamed func()) error {
	d, err := parseDump(text)
	switch {
	case err != nil:
		return &Failure{Reason: Internal, Err: err}
	case len(d.token) > maxToken:
		unnamed()
		return nil
	case !wanted(d.key):
		return nil
	}
	return s.add(d)
}

// remove removes from a memcached the items of all keys for which the function which returns true. It does not wait for
// a memcached that does not answer.
func remove(ctx context.Context, dial Dial, which func(raw []byte) bool) error {
	return removing(ctx, dial, func(remove func(key)) error {
		return listEach(ctx, dial, func(k key) error {
			if which(k.raw()) {
				remove(k)
			}
			return nil
		})
	})
}

// removing calls choose with a function that removes the item of a key. It returns when memcached has removed all these
// items.
func removing(ctx context.Context, dial Dial, choose func(remove func(key)) error) error {
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := protocol.New(connection).Within(patience).Ask(ctx, noop); err != nil {
		return err
	}
	answered := make(chan error, 1)
	r := newRemovals(connection, func(error) {}) // run returns the error, too
	go func() { answered <- r.run() }()
	err = choose(r.remove)
	r.flush()
	hangUp(connection)
	return errors.Join(err, ignoreEnd(<-answered))
}

// ignoreEnd returns nil if memcached has closed the connection. With TLS, memcached answers the end of the commands
// with an alert, because the connection was closed without the alert that OpenSSL expects before.
func ignoreEnd(err error) error {
	alert, ok := errors.AsType[*net.OpError](err)
	if errors.Is(err, io.EOF) || ok && alert.Op == "remote error" {
		return nil
	}
	return err
}
