package handoff

// Connects to one of the memcacheds of a handoff, and watches it.

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

// lastWords is how long the log of a memcached may continue after another connection to it has ended.
const lastWords = 5 * time.Second

// side is one of the memcacheds, and the connections that last as long as the handoff.
type side struct {
	Member

	number int // in Move.Servers

	streamBuffer int             // bytes
	changes      *changes        // keys that are to be copied again from this memcached
	fail         func(error)     // ends the handoff, or continues without this memcached
	leave        func()          // closes the connections
	left         <-chan struct{} // closed with the connections

	markers   *markers
	stream    *stream
	removals  *removals
	heartbeat *heartbeat
	ended     chan struct{} // closed once the log has ended

	state    atomic.Int32 // joining, kept or absent
	lastUsed atomic.Int64 // when a client last changed or missed a key, as Unix nanoseconds; at first, when it was opened

	logBuffer int // bytes of the log that each thread of memcached holds
	itemSize  int // bytes of the largest item that memcached accepts, with its header

	gaps chan struct{} // has an element if lines of the log are lost
}

// States of a side.
const (
	joining = iota // the session connects to it; its keys may be outdated
	kept           // it is kept consistent with the others
	absent         // the session continues without it
)

// whilePresent returns a context that ends when the session continues without the side.
func (s *side) whilePresent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.left:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (s *side) isAbsent() bool { return s.state.Load() == absent }

// ofItem is at least as many bytes as memcached adds to the key and value of an item.
const ofItem = 64

// isTooLarge reports whether memcached would refuse an item with this many bytes of key and value. Such an item must
// not be sent, because memcached 1.6.40 to 1.6.45 crashes when it refuses an item of `ms` while its log is watched.
func (s *side) isTooLarge(bytes int) bool { return isTooLarge(s.itemSize, bytes) }

// isTooLarge reports whether a memcached whose largest item has this size would refuse such an item. 0 means that the
// size is unknown.
func isTooLarge(itemSize, bytes int) bool { return itemSize > 0 && bytes+ofItem > itemSize }

// open opens the connections of a side. They are closed when the side leaves, or the context ends. open writes no
// markers, because it would have to wait for them, and nothing reads the log yet.
func (s *side) open(ctx context.Context) error {
	ctx, s.leave = context.WithCancel(ctx)
	s.left = ctx.Done()
	s.markers, s.ended = newMarkers(), make(chan struct{})
	s.lastUsed.Store(time.Now().UnixNano())
	connections := make([]net.Conn, 3)
	for i := range connections {
		connection, err := s.connect(ctx)
		if err != nil {
			return err
		}
		connections[i] = connection
	}
	s.stream = newStream(connections[0], s.markers, s.streamBuffer)
	s.removals = newRemovals(connections[1], s.lost)
	s.heartbeat = newHeartbeat(connections[2], s.markers, s.left)
	settings, err := s.heartbeat.client.Stats(ctx, "settings")
	if err != nil {
		return s.failure(err)
	}
	s.logBuffer, _ = strconv.Atoi(settings["worker_logbuf_size"])
	s.itemSize, _ = strconv.Atoi(settings["item_size_max"])
	if err := s.stream.watch(connections[0]); err != nil {
		return s.failure(err)
	}
	return nil
}

// connect opens a connection that is closed when the context ends.
func (s *side) connect(ctx context.Context) (net.Conn, error) {
	return s.connectUntil(ctx, func(connection net.Conn) { _ = connection.Close() })
}

// connectUntil opens a connection, and calls end with it when the context ends.
func (s *side) connectUntil(ctx context.Context, end func(net.Conn)) (net.Conn, error) {
	connection, err := s.Dial(ctx)
	if err != nil {
		return nil, s.failure(err)
	}
	context.AfterFunc(ctx, func() { end(connection) })
	return connection, nil
}

// hangUp closes a connection for writing. Memcached then closes the connection once it has executed all commands that
// were sent.
func hangUp(connection net.Conn) {
	_ = connection.SetReadDeadline(time.Now().Add(emptyWithin))
	if encrypted, ok := connection.(*tls.Conn); ok {
		connection = encrypted.NetConn()
	}
	if writer, ok := connection.(interface{ CloseWrite() error }); !ok || writer.CloseWrite() != nil {
		_ = connection.Close()
	}
}

// run reads the log, and runs the heartbeat, until the context ends. It calls end when the log has ended.
func (s *side) run(ctx context.Context, end func(error)) {
	go func() {
		err := s.stream.run()
		if errors.Is(err, io.EOF) {
			err = &Failure{Reason: s.Side + ended, Err: errors.New("memcached has ended")}
		}
		end(s.failure(err))
		close(s.ended)
	}()
	go func() { s.lost(s.removals.run()) }()
	go func() { s.lost(s.heartbeat.run(ctx)) }()
}

// ready waits until memcached's log has shown that the connections of removals and of the heartbeat are the agent's
// own.
func (s *side) ready(ctx context.Context) error {
	return errors.Join(s.sync(ctx), s.heartbeat.wait(ctx))
}

// sync waits until all removals are done, unless the session continues without this memcached.
func (s *side) sync(ctx context.Context) error {
	for {
		if s.isAbsent() {
			return nil
		}
		done := make(chan struct{})
		s.removals.write(s.markers.command(func() { close(done) }))
		s.removals.flush()
		select {
		case <-done:
			return nil
		case <-s.left:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lostAfter):
		}
	}
}

// lost ends the handoff because of an error of a connection other than the log's. When memcached ends, all its
// connections end. The end of the log then explains more than other errors, so lost waits for it. It does not wait if
// memcached only did not answer in time.
func (s *side) lost(err error) {
	if s.isAbsent() {
		return
	}
	if _, ok := errors.AsType[*Failure](err); ok || errors.Is(err, os.ErrDeadlineExceeded) {
		s.fail(s.failure(err))
		return
	}
	go func() {
		late := time.NewTimer(lastWords)
		defer late.Stop()
		select {
		case <-s.ended:
		case <-late.C:
		}
		if !s.isAbsent() {
			s.fail(s.failure(err))
		}
	}()
}

// Empty removes all items of a memcached.
func Empty(ctx context.Context, dial Dial) error {
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	return flush(ctx, protocol.New(connection).Within(patience))
}

// End announces to the agent that took over the items of a memcached that this memcached ends now. Call it right before
// SIGUSR1, the signal at which memcached delivers the rest of its log. Without the announcement, that agent cannot be
// sure that it knows all writes, and empties the new memcached.
func End(ctx context.Context, dial Dial) error {
	connection, err := dial(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	answer, err := protocol.New(connection).Ask(ctx, markerCommand(endKey))
	if err == nil && answer != markerAnswer {
		err = fmt.Errorf("memcached answers %q", answer)
	}
	return err
}
