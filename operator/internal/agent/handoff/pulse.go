package handoff

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
)

const (
	// patience is how long a memcached may not answer, or not show a mark in its log.
	patience = 10 * time.Second

	// pause is between two marks. Memcached reads its log the more rarely the less is in it, down to once a second.
	pause = 20 * time.Millisecond

	// marksPerBeat are enough that all that had happened before a beat has been read when it ends. Memcached collects
	// the log of each of its threads in turn. So what a thread wrote before a mark of another may come one round after
	// it, and the next mark may come first in that round.
	marksPerBeat = 4
)

// pulse keeps a memcached's log awake and looks after what the log does not say.
type pulse struct {
	client *protocol.Client
	marks  *marks

	flushed func() error // a client emptied memcached
	empty   atomic.Bool  // memcached is to be emptied with the next beat

	mutex sync.Mutex
	beats int
	beat  chan struct{} // closed with the next beat

	first   map[string]string // statistics of the first beat
	flushes string            // cmd_flush as last seen
}

func newPulse(client *protocol.Client, marks *marks) *pulse {
	return &pulse{client: client, marks: marks, beat: make(chan struct{})}
}

// run beats until an error.
func (p *pulse) run(ctx context.Context) error {
	for {
		for range marksPerBeat {
			if err := p.mark(ctx); err != nil {
				return err
			}
		}
		if err := p.check(ctx); err != nil {
			return err
		}
		p.mutex.Lock()
		p.beats++
		close(p.beat)
		p.beat = make(chan struct{})
		p.mutex.Unlock()
	}
}

// mark writes a mark and waits until it is in the log.
func (p *pulse) mark(ctx context.Context) error {
	seen := make(chan struct{})
	answer, err := p.client.Ask(ctx, p.marks.command(func() { close(seen) }))
	if err != nil {
		return err
	}
	if answer != markAnswer {
		return &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers %q to a mark", answer)}
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-seen:
	case <-late.C:
		return &Failure{Reason: LogLinesLost, Err: fmt.Errorf("memcached's log did not arrive for %s", patience)}
	case <-ctx.Done():
		return ctx.Err()
	}
	return Wait(ctx, pause)
}

// check compares the statistics with those of the first beat, and empties memcached if it should.
func (p *pulse) check(ctx context.Context) error {
	stats, err := p.client.Stats(ctx, "")
	if err != nil {
		return err
	}
	if p.first == nil {
		p.first, p.flushes = stats, stats["cmd_flush"]
	}
	for _, lost := range []string{"log_worker_dropped", "log_watcher_skipped"} {
		if stats[lost] != p.first[lost] {
			return &Failure{Reason: LogLinesLost, Err: fmt.Errorf("%s is %s", lost, stats[lost])}
		}
	}
	if stats["cmd_flush"] != p.flushes {
		p.flushes = stats["cmd_flush"]
		if err := p.flushed(); err != nil {
			return err
		}
	}
	if p.empty.CompareAndSwap(true, false) {
		return p.flush(ctx)
	}
	return nil
}

// flush empties memcached. A client's flush at the same moment is not noticed, so the count is read before.
func (p *pulse) flush(ctx context.Context) error {
	if err := flush(ctx, p.client); err != nil {
		return err
	}
	var count int
	if _, err := fmt.Sscan(p.flushes, &count); err != nil {
		return fmt.Errorf("cmd_flush of memcached is %q", p.flushes)
	}
	p.flushes = fmt.Sprint(count + 1)
	return nil
}

// Wait waits until all that had happened in memcached before is known.
func (p *pulse) wait(ctx context.Context) error {
	for range 2 { // the beat in progress and a whole one
		p.mutex.Lock()
		beat := p.beat
		p.mutex.Unlock()
		select {
		case <-beat:
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
		return &Failure{Reason: FlushForbidden, Err: errors.New("memcached runs with -F: it cannot be emptied")}
	}
	return fmt.Errorf("memcached answers %q to flush_all", answer)
}

// Wait returns after some time, or the context's error if that ends first.
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
