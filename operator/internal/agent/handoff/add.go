package handoff

// Adds items to a memcached, for a copy during which no agent follows the changes by clients, such as the restore of a
// snapshot. They do not replace items that the memcached already has.

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

// Added counts the items that were to be added, by what happened to them.
type Added struct {
	Items, Bytes int64 // items that were sent, including those that memcached had or refused, and their bytes
	Kept         int64 // of these, the items whose key the memcached already had, so that its item was kept
	Refused      int64 // items that were too large, or for which memcached had no memory
	Expired      int64 // items that expired before they could be added
}

// Adder adds items to a memcached. It is for one goroutine at a time.
type Adder struct {
	connection net.Conn
	items      *bufio.Writer
	itemSize   int // like side.itemSize
	added      Added

	answered      chan error // the result of reading all answers
	kept, refused int64      // counted by readAnswers
}

// NewAdder connects to a memcached. The connection is closed when the context ends.
func NewAdder(ctx context.Context, dial Dial) (*Adder, error) {
	connection, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := protocol.New(connection).Stats(ctx, "settings")
	if err != nil {
		_ = connection.Close()
		return nil, err
	}
	a := &Adder{
		connection: connection, items: bufio.NewWriterSize(connection, copyBuffer), answered: make(chan error, 1),
	}
	a.itemSize, _ = strconv.Atoi(settings["item_size_max"])
	context.AfterFunc(ctx, func() { _ = connection.Close() })
	go func() { a.answered <- a.readAnswers(bufio.NewReader(connection)) }()
	return a, nil
}

// Add adds an item, unless it has expired or the memcached has an item with its key. Add keeps no reference to the
// item, and may return the error of an earlier item.
func (a *Adder) Add(i Item) error {
	k, ttl := keyOf(i.Key), -1
	if i.Expires > 0 {
		ttl = int(max(0, i.Expires-time.Now().Unix()))
	}
	command := item{size: len(i.Value), ttl: ttl, flags: strconv.FormatUint(uint64(i.Flags), 10)}
	switch {
	case command.expiring():
		a.added.Expired++
		return nil
	case len(k.token) > maxToken, isTooLarge(a.itemSize, len(k.token)+len(i.Value)):
		a.added.Refused++
		return nil
	}
	if err := a.connection.SetWriteDeadline(time.Now().Add(stalledAfter)); err != nil {
		return a.failed(err)
	}
	write(a.items, command.command(k, false))
	_, _ = a.items.Write(i.Value)
	if _, err := a.items.WriteString("\r\n"); err != nil {
		return a.failed(err)
	}
	a.added.Items++
	a.added.Bytes += int64(len(i.Key) + len(i.Value))
	return nil
}

// failed returns why a write failed. If memcached sent an unexpected answer before the connection was closed, failed
// returns an error with this answer, because it explains more than the error of the write.
func (a *Adder) failed(err error) error {
	_ = a.connection.Close()
	var unexpected *Failure
	if answer := <-a.answered; errors.As(answer, &unexpected) {
		err = unexpected
	}
	a.answered <- err
	return err
}

// Close waits until the memcached has all items, and returns the counts.
func (a *Adder) Close() (Added, error) {
	defer a.connection.Close()
	write(a.items, noop)
	if err := a.items.Flush(); err != nil {
		return a.added, a.failed(err)
	}
	if err := a.connection.SetReadDeadline(time.Now().Add(stalledAfter)); err != nil {
		return a.added, a.failed(err)
	}
	err := <-a.answered
	a.added.Kept, a.added.Refused = a.kept, a.added.Refused+a.refused
	return a.added, err
}

// readAnswers reads the answers up to that of the command mn.
func (a *Adder) readAnswers(from *bufio.Reader) error {
	for {
		answer, err := readLine(from)
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		switch {
		case err != nil:
			return err
		case answer == noopAnswer:
			return nil
		case answer == "NS":
			a.kept++
		case strings.HasPrefix(answer, "SERVER_ERROR "):
			a.refused++
		default:
			_ = a.connection.Close()
			return &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers %.200q", answer)}
		}
	}
}
