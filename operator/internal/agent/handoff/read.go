package handoff

// Reads all items of a memcached once, for a copy during which no agent follows the changes by clients.

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// stalledAfter is how long a memcached may send or accept nothing before the connection counts as broken.
const stalledAfter = time.Minute

// noop is a command that stores nothing, and that memcached answers with noopAnswer.
const (
	noop       = "mn\r\n"
	noopAnswer = "MN"
)

// Item is an item that was read from a memcached, or is to be added to one.
type Item struct {
	Key     []byte // as it is: not base64
	Flags   uint32 // of the client
	Expires int64  // in seconds since 1970; 0 is never
	Used    int64  // when a client last used it, in seconds since 1970; 0 is unknown
	Value   []byte
}

// Unread counts the items of a memcached that Read leaves out.
type Unread struct {
	Numbers  int64 // values that incr and decr change, see answers.go
	Stale    int64 // items that are marked as stale, or that a client is to write again
	Expiring int64 // items that expire within a second
	Unnamed  int64 // items whose key no command can name
	Failed   int64 // items that memcached could not return
}

// Pace limits the bytes per second of all copies that share it.
type Pace = pace

// Limit returns a Pace; 0 is no limit.
func Limit(bytesPerSecond int64) *Pace {
	return &pace{limit: func(time.Time) float64 { return float64(bytesPerSecond) }}
}

// readout is a Read in progress.
type readout struct {
	connection net.Conn
	commands   *bufio.Writer
	items      *bufio.Reader
	requested  chan []key // the keys of each requested batch

	pace   *Pace
	found  func(Item) error
	value  []byte
	unread Unread
}

// Read calls found for each item that a memcached had at the beginning, and still has. The coldest items are first, so
// that a memcached that gets the items in this order evicts the coldest first. found must keep no reference to the
// item.
//
// The reads do not count as uses of the items. However, memcached instructs only one reader of a stale item to write it
// again, and this reader may be Read: memcached has no command that reads a value without this effect.
func Read(ctx context.Context, dial Dial, pace *Pace, found func(Item) error) (Unread, error) {
	connection, err := dial(ctx)
	if err != nil {
		return Unread{}, err
	}
	defer connection.Close()
	r := &readout{
		connection: connection, commands: bufio.NewWriterSize(connection, copyBuffer),
		items: bufio.NewReaderSize(connection, copyBuffer), requested: make(chan []key, window), pace: pace, found: found,
	}
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	group.Go(func() error {
		defer close(r.requested)
		return r.request(ctx, dial)
	})
	group.Go(func() error {
		for keys := range r.requested {
			if err := r.read(ctx, keys); err != nil {
				return err
			}
		}
		return nil
	})
	err = group.Wait()
	return r.unread, err
}

// request requests the item of each key.
func (r *readout) request(ctx context.Context, dial Dial) error {
	keys, err := list(ctx, dial, anyKey, func() { r.unread.Unnamed++ })
	if err != nil {
		return err
	}
	defer keys.close()
	var batch []key
	add := func(k listed) error {
		batch = append(batch, k.key)
		if len(batch) < maxBatch {
			return nil
		}
		full := batch
		batch = make([]key, 0, maxBatch)
		return r.send(ctx, full)
	}
	for _, of := range keys.coldestFirst() {
		if err := keys.each(of, add); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return r.send(ctx, batch)
}

// send requests the items of a batch. It does so without a bump in the LRU list, so that the least used items are still
// evicted first.
func (r *readout) send(ctx context.Context, keys []key) error {
	for i, key := range keys {
		write(r.commands, "mg "+key.token+" "+key.flag()+"v t f l u q O"+strconv.Itoa(i)+"\r\n")
	}
	write(r.commands, noop)
	if err := r.commands.Flush(); err != nil {
		return err
	}
	select {
	case r.requested <- keys:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// read reads the items of a batch.
func (r *readout) read(ctx context.Context, keys []key) error {
	for {
		if err := r.connection.SetReadDeadline(time.Now().Add(stalledAfter)); err != nil {
			return err
		}
		text, err := readLine(r.items)
		switch {
		case err != nil:
			return err
		case text == noopAnswer:
			return nil
		case len(text) > 0 && text[0] == 'S': // SERVER_ERROR: see forwardItem
			r.unread.Failed++
			continue
		}
		i, err := parseItem(text)
		if err == nil && i.index >= len(keys) {
			err = fmt.Errorf("memcached answers %q", text)
		}
		if err != nil {
			return &Failure{Reason: Internal, Err: err}
		}
		if err := r.readItem(ctx, keys[i.index], i); err != nil {
			return err
		}
	}
}

// readItem reads a value, and passes the item on, unless it is to be left out.
func (r *readout) readItem(ctx context.Context, k key, i item) error {
	const lineEnd = 2
	numeric, err := number(r.items, i.size)
	if err != nil {
		return err
	}
	if leftOut := r.leftOut(i, numeric); leftOut != nil {
		*leftOut++
		_, err := r.items.Discard(i.size + lineEnd)
		return err
	}
	r.grow(i.size + lineEnd)
	if _, err := io.ReadFull(r.items, r.value); err != nil {
		return err
	}
	flags, err := strconv.ParseUint(i.flags, 10, 32)
	if err != nil {
		return &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers the flags %q", i.flags)}
	}
	now := time.Now().Unix()
	found := Item{Key: k.raw(), Flags: uint32(flags), Used: now - int64(i.idle), Value: r.value[:i.size]}
	if i.ttl > 0 {
		found.Expires = now + int64(i.ttl) - 1 // memcached counts whole seconds, and the item must not live longer
	}
	if err := r.found(found); err != nil {
		return err
	}
	return r.pace.Wait(ctx, int64(len(found.Key)+i.size))
}

// leftOut returns the counter for the item if it is to be left out, or nil.
func (r *readout) leftOut(i item, numeric bool) *int64 {
	switch {
	case numeric:
		return &r.unread.Numbers
	case i.stale:
		return &r.unread.Stale
	case i.expiring():
		return &r.unread.Expiring
	}
	return nil
}

// grow makes room for a value. The memory of a large value is released with the next small one.
func (r *readout) grow(size int) {
	if cap(r.value) < size || cap(r.value) > copyBuffer && size <= copyBuffer {
		r.value = make([]byte, max(size, copyBuffer))
	}
	r.value = r.value[:size]
}
