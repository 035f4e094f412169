package handoff

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// window is how many batches of a copier may be in progress at the same time.
	window = 4

	// minBatch and maxBatch limit the number of keys in a batch. A batch is one write, and a client may have to wait until
	// all keys of the batch are written. If memcached's buffers for its log are small, a batch has fewer keys: each key
	// needs two lines in such a buffer, and the lines of clients need space there, too. bytesPerKey is the space for each
	// key.
	minBatch    = 8
	maxBatch    = 64
	bytesPerKey = 1 << 10

	// maxBatchBytes limits the bytes of a batch, because batches may still be in progress when the time for the copy is
	// over. A batch exceeds it by one item at most.
	maxBatchBytes = 256 << 10

	// copyBuffer is the size of a buffer of a connection that copies, and copyBuffers limits the size of all these
	// buffers together.
	copyBuffer  = 64 << 10
	copyBuffers = 16 << 20
)

// batch is a list of keys to copy into one memcached.
type batch struct {
	to      *store
	keys    []key
	bytes   int64  // about the bytes of keys and values; 0 if the keys are not from the list
	changed bool   // items replace those of the new memcached; keys without an old item are removed from the new memcached
	done    func() // called when all items are in the new memcached

	requested time.Time
}

// store is a connection that stores items in a memcached.
type store struct {
	side    *side
	items   *bufio.Writer
	answers *bufio.Reader
}

// copier copies the items of one memcached. It reads and writes the batches one after another, so that the later copy
// of a key replaces an earlier one.
type copier struct {
	*session
	from      *side
	counts    *counts
	batchKeys int
	room      room

	once, again atomic.Int64 // bytes of the list that were copied, and bytes of changed keys that were copied again

	expectedKeys, expected int64 // keys and bytes that are to be copied, as estimated before they are listed

	dumped  chan batch // closed at the end of the dump
	batches chan batch // batches whose items are requested, but not read yet

	reading, writing chan struct{} // an element for each batch that is not yet in the log of the old, or new, memcached

	request *bufio.Writer  // the commands to the old memcached
	items   *bufio.Reader  // its answers
	stores  map[int]*store // by server
}

// copyItems copies all items. It returns when the new memcacheds have all items of the old ones, and no outdated item.
func copyItems(ctx context.Context, s *session) error {
	var copiers []*copier
	for _, number := range s.move.Sources {
		c, err := newCopier(ctx, s, s.side(number))
		if err != nil {
			return err
		}
		c.expectedKeys, c.expected = c.counts.total(c.from.heartbeat.first, s.move.Share)
		s.handoff.left.Add(c.expected)
		copiers = append(copiers, c)
	}
	for _, c := range copiers {
		c.room = s.room(c.from)
	}
	if err := s.feed(ctx, copiers); err != nil {
		return err
	}
	if err := errors.Join(s.settle(ctx), s.checkUses()); err != nil {
		return err
	}
	s.handoff.counts.copied.Store(true)
	s.handoff.report()
	return nil
}

// newCopier opens the connections of a copier. They stay open to the end of the session: otherwise, memcached could use
// the descriptor of a closed connection for a client, and changes by this client would look like the agent's own.
func newCopier(ctx context.Context, s *session, from *side) (*copier, error) {
	get, err := from.connect(ctx)
	if err != nil {
		return nil, err
	}
	size := share(copyBuffer, copyBuffers, 4*len(s.move.Sources)*len(s.move.Targets))
	c := &copier{
		session: s,
		from:    from,
		counts:  &s.handoff.counts,

		dumped:  make(chan batch),
		batches: make(chan batch, window),
		reading: make(chan struct{}, window),
		writing: make(chan struct{}, window),
		request: bufio.NewWriterSize(get, size),
		items:   bufio.NewReaderSize(get, size),
		stores:  map[int]*store{},
	}
	logBuffer := from.logBuffer
	for _, number := range s.move.Targets {
		if to := s.side(number); to != from {
			if err := c.open(ctx, to, size); err != nil {
				return nil, err
			}
			logBuffer = min(logBuffer, to.logBuffer)
		}
	}
	c.batchKeys = max(minBatch, min(maxBatch, logBuffer/bytesPerKey/window))
	go c.forward(ctx)
	return c, c.drain(ctx) // sends empty batches, whose markers show which connections are the agent's own
}

// open opens the connection that stores items in a memcached.
func (c *copier) open(ctx context.Context, to *side, size int) error {
	put, err := to.connectUntil(ctx, hangUp)
	if err != nil {
		return err
	}
	target := &store{to, bufio.NewWriterSize(put, size), bufio.NewReaderSize(put, size)}
	c.stores[to.number] = target
	c.storing.Go(func() {
		to.lost(c.readStored(target))
		<-ctx.Done()
		discard(target.answers, put)
	})
	return nil
}

// share returns the size of a buffer if many connections share the memory for all buffers.
func share(size, all, buffers int) int {
	const least = 4 << 10
	return max(least, min(size, all/buffers))
}

// discard reads the answers until memcached has executed all commands, and closes the connection.
func discard(answers io.Reader, connection net.Conn) {
	_, _ = io.Copy(io.Discard, answers)
	_ = connection.Close()
}

// drain waits until all batches are in the new memcacheds.
func (c *copier) drain(ctx context.Context) error {
	for _, to := range c.stores {
		done := make(chan struct{})
		if err := c.send(ctx, batch{to: to, done: func() { close(done) }}); err != nil {
			return err
		}
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// send sends the old memcached the requests for the items of a batch. If the keys have changed and there is no time to
// copy them again, it requests no items: the keys are then removed from the new memcached, after the batches that were
// sent before.
func (c *copier) send(ctx context.Context, b batch) error {
	if err := take(ctx, c.reading); err != nil {
		return err
	}
	b.requested = time.Now()
	wanted := b.keys
	if b.changed && !c.mayRecopy(b.requested) {
		wanted = nil
	}
	for i, key := range wanted {
		write(c.request, "mg "+key.token+" "+key.flag()+"v t f u q O"+strconv.Itoa(i)+"\r\n")
	}
	write(c.request, c.from.markers.command(func() { <-c.reading }))
	if err := c.request.Flush(); err != nil {
		c.from.lost(err)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	select {
	case c.batches <- b:
		return nil
	case <-ctx.Done(): // the batches are not read any more
		return context.Cause(ctx)
	}
}

// mayRecopy reports whether there is time to copy changed keys again. If the copy is late, there is no time. If the
// copy hurries, there is time until the bytes that were copied again exceed a quarter of the copied bytes of the list.
func (c *copier) mayRecopy(now time.Time) bool {
	const part = 4
	return !c.handoff.isLate(now) && (!c.handoff.hurried.Load() || part*c.again.Load() <= c.once.Load())
}

// take puts an element into a channel as soon as there is room for it.
func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write writes a command. If it fails, the next Flush of the writer returns the error.
func write(writer *bufio.Writer, command string) { _, _ = writer.WriteString(command) }
