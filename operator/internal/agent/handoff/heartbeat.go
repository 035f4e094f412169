package handoff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

const (
	// patience is how long the agent waits for an answer of memcached, or for a marker in its log. Memcached may stand
	// still for some seconds, because its Node or the network does.
	patience = 10 * time.Second

	// lostAfter is how long a marker may be missing in the log before its line counts as lost.
	lostAfter = time.Second

	// pause is the time between two markers. The fewer lines memcached's log gets, the more rarely memcached reads it,
	// down to once a second.
	pause = 20 * time.Millisecond

	// markersPerBeat is the number of markers in a beat. With this number, all lines from before the beat have been read
	// when the beat ends. Memcached collects the log of its threads one after another. So a line that a thread wrote
	// before another thread's marker may come one round after that marker, and the next marker may come first in that
	// round.
	markersPerBeat = 4
)

// heartbeat writes markers so that memcached reads its log often, and detects what the log does not show: lost lines,
// and flushes by clients.
type heartbeat struct {
	client  *protocol.Client
	markers *markers
	left    <-chan struct{} // closed when the session continues without this memcached

	gap     func(error) error // called when lines of the log are lost
	flushed func() error      // called when a client emptied memcached
	empty   atomic.Bool       // memcached is to be emptied with the next beat

	mutex sync.Mutex
	beats int
	beat  chan struct{} // closed with the next beat

	first   map[string]string // statistics of the first beat
	lost    map[string]string // statistics of the last beat: how many lines were lost
	flushes string            // cmd_flush as last seen
}

func newHeartbeat(connection net.Conn, markers *markers, left <-chan struct{}) *heartbeat {
	client := protocol.New(connection).Within(patience)
	return &heartbeat{client: client, markers: markers, left: left, beat: make(chan struct{})}
}

// run beats until an error. A beat is some markers and a check.
func (h *heartbeat) run(ctx context.Context) error {
	for {
		for range markersPerBeat {
			if err := h.writeMarker(ctx); err != nil {
				return err
			}
		}
		if err := h.check(ctx); err != nil {
			return err
		}
		h.mutex.Lock()
		h.beats++
		close(h.beat)
		h.beat = make(chan struct{})
		h.mutex.Unlock()
	}
}

// writeMarker writes a marker and waits until it is in the log. If its line is lost, it writes another one.
func (h *heartbeat) writeMarker(ctx context.Context) error {
	for range patience / lostAfter {
		seen := make(chan struct{})
		answer, err := h.client.Ask(ctx, h.markers.command(func() { close(seen) }))
		if err != nil {
			return err
		}
		if answer != markerAnswer {
			return &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers %q to a marker", answer)}
		}
		late := time.NewTimer(lostAfter)
		defer late.Stop()
		select {
		case <-seen:
			return Wait(ctx, pause)
		case <-late.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &Failure{Reason: LogLinesLost, Err: fmt.Errorf("memcached's log did not arrive for %s", patience)}
}

// check compares the statistics with those of the last beat, and empties memcached if that was requested.
func (h *heartbeat) check(ctx context.Context) error {
	stats, err := h.client.Stats(ctx, "")
	if err != nil {
		return err
	}
	if h.first == nil {
		h.first, h.lost, h.flushes = stats, maps.Clone(stats), stats["cmd_flush"]
	}
	for _, lost := range []string{"log_worker_dropped", "log_watcher_skipped"} {
		if stats[lost] == h.lost[lost] {
			continue
		}
		h.lost[lost] = stats[lost]
		if err := h.gap(&Failure{Reason: LogLinesLost, Err: fmt.Errorf("%s is %s", lost, stats[lost])}); err != nil {
			return err
		}
	}
	if stats["cmd_flush"] != h.flushes {
		h.flushes = stats["cmd_flush"]
		if err := h.flushed(); err != nil {
			return err
		}
	}
	if h.empty.CompareAndSwap(true, false) {
		return h.flush(ctx)
	}
	return nil
}

// flush empties memcached. It computes the next count of flushes from the count that was read before: if it read the
// count afterwards, it would not notice a flush by a client at the same moment.
func (h *heartbeat) flush(ctx context.Context) error {
	if err := flush(ctx, h.client); err != nil {
		return err
	}
	var count int
	if _, err := fmt.Sscan(h.flushes, &count); err != nil {
		return fmt.Errorf("cmd_flush of memcached is %q", h.flushes)
	}
	h.flushes = fmt.Sprint(count + 1)
	return nil
}

// wait waits until the session knows all changes that were made in memcached before the call.
func (h *heartbeat) wait(ctx context.Context) error {
	for range 2 { // the beat in progress, and a whole beat
		h.mutex.Lock()
		beat := h.beat
		h.mutex.Unlock()
		select {
		case <-beat:
		case <-h.left:
			return context.Cause(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func flush(ctx context.Context, client *protocol.Client) error {
	answer, err := client.Ask(ctx, "flush_all\r\n")
	switch {
	case err != nil:
		return err
	case answer == "OK":
		return nil
	case strings.Contains(answer, "not allowed"):
		return &Failure{Reason: FlushForbidden, Err: errors.New("memcached runs with -F, so it cannot be emptied")}
	}
	return fmt.Errorf("memcached answers %q to flush_all", answer)
}

// Wait returns nil after this time, or the context's error if the context ends before.
func Wait(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
