package watch

// Reads the log that memcached sends over one connection.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
	"github.com/example-inc/memcached-operator/operator/internal/usage/curve"
	"github.com/example-inc/memcached-operator/operator/internal/uselog"
)

const (
	// every is the interval at which the memory of the used items is measured.
	every = 10 * time.Second

	// buffered is how much of the log is read at a time. The longest line has less than 1 KiB.
	buffered = 64 << 10

	// header is how many bytes memcached stores for an item in addition to its key and its value.
	header = 48 + 8 + 1 + 2

	// expired is the least logged time to live of an item that has expired from the start: memcached logs a negative time
	// to live as a large positive number.
	expired = 1 << 31
)

// session observes memcached's log from its first line on.
type session struct {
	began time.Time
	seed  maphash.Seed

	mutex          sync.Mutex
	tracker        *curve.Tracker
	clients        uselog.Filter
	now            time.Duration // since the session began
	lines, skipped float64
	copied         bool // an agent copies keys from or to this memcached
	reads, found   int  // since the tracker was last informed
	last           bool // the last read found its item
	logged         gets // all reads in the log
	before         difference
	layout         layout
	flushes        int64
}

func newSession() *session {
	s := &session{began: time.Now(), seed: maphash.MakeSeed(), tracker: curve.New()}
	s.clients.Pass = s.use
	return s
}

// follow reads the log until memcached or the context ends it.
func (w *Watcher) follow(ctx context.Context) error {
	client, err := w.login(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	s := newSession()
	w.show(s)
	defer w.show(nil)
	ctx, stop := context.WithCancel(ctx)
	var measured sync.WaitGroup
	measured.Go(func() { s.measure(ctx) })
	defer measured.Wait()
	defer stop()
	return s.read(bufio.NewReaderSize(client.Connection(), buffered))
}

// login connects, and makes memcached send its log. From an old memcached, which cannot log deletions, it requests a
// log without them.
func (w *Watcher) login(ctx context.Context) (*protocol.Client, error) {
	client, err := w.Login(ctx)
	if err != nil {
		return nil, err
	}
	answer := ""
	for _, command := range []string{uselog.WatchAll, uselog.Watch} {
		if answer, err = client.Ask(ctx, command); err == nil && answer+"\r\n" == uselog.Watched {
			return client, nil
		}
	}
	_ = client.Close()
	if err == nil {
		err = fmt.Errorf("memcached answers %q to watch", answer)
	}
	return nil, err
}

func (w *Watcher) show(s *session) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.session = s
}

// measure measures the memory of the used items, until the context ends.
func (s *session) measure(ctx context.Context) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.mutex.Lock()
			s.snapshot()
			s.mutex.Unlock()
		}
	}
}

// snapshot measures the memory of the used items. It needs memcached's slab classes, so it does nothing before the
// first report.
func (s *session) snapshot() {
	if s.layout.classes > 0 {
		s.tracker.Snapshot(s.tick(), s.layout.bytes)
	}
}

// tick returns the time since the session began.
func (s *session) tick() time.Duration {
	s.now = time.Since(s.began)
	return s.now
}

// read reads the log. Lines that have arrived together are processed together.
func (s *session) read(lines *bufio.Reader) error {
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("memcached ended its log: %w", err)
		}
		s.mutex.Lock()
		for s.tick(); err == nil; line, err = next(lines) {
			s.line(line)
		}
		s.tracker.Requested(s.now, s.reads, s.found)
		s.logged.reads += int64(s.reads)
		s.logged.found += int64(s.found)
		s.reads, s.found = 0, 0
		copied := s.copied
		s.mutex.Unlock()
		if copied {
			return errCopied
		}
	}
}

// errCopied ends a session. An agent that copies keys needs each line of the log, so the session does not read the log
// at the same time. Besides, the keys that such an agent adds are not used by clients.
var errCopied = errors.New("an agent copies keys from it or to it")

// next returns the next line that has arrived.
func next(lines *bufio.Reader) ([]byte, error) {
	arrived, _ := lines.Peek(lines.Buffered())
	if bytes.IndexByte(arrived, '\n') < 0 {
		return nil, bufio.ErrBufferFull
	}
	return lines.ReadSlice('\n')
}

// line reads no more of a line than necessary, because most lines are about keys that are not followed.
func (s *session) line(line []byte) {
	if count, ok := uselog.Skipped(line); ok {
		s.skipped += float64(count)
		return
	}
	begin, ok := uselog.Cut(line)
	if !ok {
		return
	}
	s.lines++
	s.copied = s.copied || handoff.IsMarker(begin.Key)
	s.count(begin)
	if s.tracker.Follows(maphash.Bytes(s.seed, begin.Key)) {
		s.clients.Add(begin.Use())
	}
}

// count counts the reads of clients. A read in the line before a store or a deletion is memcached's own, and does not
// count.
func (s *session) count(begin uselog.Begin) {
	change := -1
	if begin.Read {
		change, s.last = 1, begin.Found()
	}
	s.reads += change
	if s.last {
		s.found += change
	}
}

// use adds a use of a key by a client to the tracker.
func (s *session) use(u uselog.Use) {
	hash, item := maphash.String(s.seed, u.Escaped), curve.Item{Size: header + len(u.Key) + u.Size, Class: u.Class}
	switch {
	case u.Read:
		s.tracker.Read(s.now, hash, u.Found, item)
	case u.Deleted, u.Found && u.TTL >= expired:
		s.tracker.Delete(hash)
	case u.Found:
		s.tracker.Store(s.now, hash, item, time.Duration(u.TTL)*time.Second)
	}
}

// report adds the observations of the session to a report.
func (s *session) report(to *usage.Report, now reading) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.flushes < now.flushes && s.layout.classes > 0 {
		s.tracker.Flush()
	}
	s.layout, s.flushes = now.layout, now.flushes
	s.tracker.Has(s.tick(), float64(now.memory))
	s.snapshot()
	to.Observed = int64(min(s.tick(), 24*time.Hour) / time.Second)
	if s.skipped > 0 {
		to.Skipped = s.skipped / (s.lines + s.skipped)
	}
	to.Curve = s.tracker.Curve(s.now, s.layout.spare())
	s.before.begin(s.logged, now)
	for i := range to.Curve {
		to.Curve[i].HitRatio = s.before.ofReads(to.Curve[i].HitRatio, s.logged, now)
	}
}
