package handoff

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
)

const (
	// window is how many batches may be in progress.
	window = 4

	// A batch is a write. A client may wait for as many keys as are in it. It has fewer keys if memcached can hold little
	// of its log: there are two lines a key, and clients need place for their lines, too.
	minBatch    = 8
	maxBatch    = 64
	bytesPerKey = 1 << 10

	// copyBuffer is the size of the buffers of the connections that copy.
	copyBuffer = 64 << 10

	// fewChanges are removed rather than copied again, so that the copy ends while clients write.
	fewChanges  = 64
	maxRecopies = 20
)

// batch is a list of keys to copy.
type batch struct {
	keys    []key
	changed bool   // the items replace those of the new memcached, and what the old one does not have is removed
	done    func() // all is in the new memcached
}

// copier copies items. It reads and writes the batches one after another, so that of two copies of a key the later one
// wins.
type copier struct {
	*session
	counts    *counts
	pace      pace
	batchKeys int

	dumped  chan []key // closed at the end of the dump
	batches chan batch // requested, and not yet read

	reading, writing chan struct{} // a place for each batch that memcached's log does not show yet

	request *bufio.Writer // to the old memcached
	items   *bufio.Reader // from it
	store   *bufio.Writer // to the new one
	stored  *bufio.Reader // from it
}

// copyItems returns when the new memcached has all items of the old one, and neither has one that is outdated.
func copyItems(ctx context.Context, s *session) error {
	// They stay open: if a client got the descriptor of one, its changes would look like the agent's own.
	get, err := s.old.connect(ctx)
	if err != nil {
		return err
	}
	put, err := s.new.connectUntil(ctx, hangUp)
	if err != nil {
		return err
	}
	c := newCopier(s, get, put)
	c.counts.total(s.old.heartbeat.first)
	go c.forward(ctx)
	s.storing.Go(func() {
		s.new.lost(c.readStored())
		<-ctx.Done()
		_, _ = io.Copy(io.Discard, c.stored)
		_ = put.Close()
	})
	if err := c.drain(ctx); err != nil { // the markers of an empty batch name both connections as the agent's own
		return err
	}
	go c.dump(ctx)
	if err := c.feed(ctx); err != nil {
		return err
	}
	s.handoff.counts.copied.Store(true)
	s.handoff.Copied()
	return nil
}

func newCopier(s *session, get, put net.Conn) *copier {
	return &copier{
		session: s,
		counts:  &s.handoff.counts,
		pace:    pace{limit: s.handoff.rate},

		batchKeys: max(minBatch, min(maxBatch, min(s.old.logBuffer, s.new.logBuffer)/bytesPerKey/window)),

		dumped:  make(chan []key),
		batches: make(chan batch, window),
		reading: make(chan struct{}, window),
		writing: make(chan struct{}, window),
		request: bufio.NewWriterSize(get, copyBuffer),
		items:   bufio.NewReaderSize(get, copyBuffer),
		store:   bufio.NewWriterSize(put, copyBuffer),
		stored:  bufio.NewReaderSize(put, copyBuffer),
	}
}

// feed has the keys of the dump copied, and in the meantime those that change again.
func (c *copier) feed(ctx context.Context) error {
	for {
		select {
		case keys, ok := <-c.dumped:
			if !ok {
				return c.finish(ctx)
			}
			if err := c.send(ctx, batch{keys: keys}); err != nil {
				return err
			}
		case <-c.changes.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := c.sendChanged(ctx); err != nil {
			return err
		}
	}
}

// sendChanged has all keys that have changed copied again.
func (c *copier) sendChanged(ctx context.Context) error {
	for keys := range slices.Chunk(c.changes.take(), c.batchKeys) {
		if err := c.send(ctx, batch{keys: keys, changed: true}); err != nil {
			return err
		}
	}
	return nil
}

// finish copies again what has changed, until little is left, and removes the rest from the new memcached. From then
// on it removes each change immediately. What changed before the last copy, and is in the log only now, is removed,
// too.
func (c *copier) finish(ctx context.Context) error {
	if err := errors.Join(c.drain(ctx), c.old.heartbeat.wait(ctx), c.new.heartbeat.wait(ctx)); err != nil {
		return err
	}
	for range maxRecopies {
		if c.changes.len() <= fewChanges {
			break
		}
		if err := errors.Join(c.sendChanged(ctx), c.drain(ctx)); err != nil {
			return err
		}
	}
	for _, key := range c.changes.stop() {
		c.new.removals.remove(key)
	}
	return c.settle(ctx)
}

// drain waits until all batches are in the new memcached.
func (c *copier) drain(ctx context.Context) error {
	done := make(chan struct{})
	if err := c.send(ctx, batch{done: func() { close(done) }}); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send requests the items of a batch.
func (c *copier) send(ctx context.Context, b batch) error {
	if err := take(ctx, c.reading); err != nil {
		return err
	}
	for i, key := range b.keys {
		write(c.request, "mg "+key.token+" "+key.flag()+"v t f u q O"+strconv.Itoa(i)+"\r\n")
	}
	write(c.request, c.old.markers.command(func() { <-c.reading }))
	if err := c.request.Flush(); err != nil {
		c.old.lost(err)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	select {
	case c.batches <- b:
		return nil
	case <-ctx.Done(): // nobody takes them any more
		return context.Cause(ctx)
	}
}

// take takes a place.
func take(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write writes a command. A writer keeps its error until it is flushed.
func write(writer *bufio.Writer, command string) { _, _ = writer.WriteString(command) }
