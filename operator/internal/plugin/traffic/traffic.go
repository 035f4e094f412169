// Package traffic reads which keys clients use, from the log that memcached sends to a connection that watches it.
package traffic

// Reads the log over a connection of the plugin, within limits.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
	"github.com/example-inc/memcached-operator/operator/internal/uselog"
)

// Limits end the reading of a log.
type Limits struct {
	For   time.Duration
	Lines int // of a server
}

// Seen is how much of the log was read.
type Seen struct {
	Lines   int           `json:"lines"`
	Skipped int           `json:"skipped"` // by memcached, because the log was read too slowly
	Took    time.Duration `json:"-"`

	// Ended is why the reading ended early, after some of the log was read.
	Ended string `json:"ended,omitempty"`
}

// Watch reads the log of a server, and passes each use to a function. The connection can't be used for anything else
// afterwards. If the Pod is deleted or the user interrupts the reading, the lines that were read count.
func Watch(limits Limits, use func(uselog.Use)) func(context.Context, *reach.Connection) (Seen, error) {
	return func(ctx context.Context, connection *reach.Connection) (Seen, error) {
		if _, err := io.WriteString(connection, uselog.Watch); err != nil {
			return Seen{}, fmt.Errorf("memcached accepts no commands: %w", err)
		}
		lines := bufio.NewReader(connection)
		switch answer, err := lines.ReadString('\n'); {
		case err != nil:
			return Seen{}, fmt.Errorf("memcached stopped answering: %w", err)
		case answer != uselog.Watched:
			return Seen{}, fmt.Errorf("memcached answers %.200q to watch", answer)
		}
		began := time.Now()
		if err := connection.SetReadDeadline(began.Add(limits.For)); err != nil {
			return Seen{}, err
		}
		seen, err := read(lines, limits.Lines, use)
		seen.Took = time.Since(began)
		switch {
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && seen.Took >= limits.For:
		case errors.Is(ctx.Err(), context.Canceled):
			seen.Ended = "interrupted"
		case seen.Lines == 0:
			return seen, err
		default:
			seen.Ended = err.Error()
		}
		return seen, nil
	}
}

// read reads lines, and passes the uses in them to a function.
func read(lines *bufio.Reader, most int, use func(uselog.Use)) (seen Seen, err error) {
	clients := uselog.Filter{Pass: use}
	defer clients.Flush()
	for seen.Lines < most {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return seen, err
		}
		seen.Lines++
		if skipped, ok := uselog.Skipped(line); ok {
			seen.Skipped += skipped
		} else if begin, ok := uselog.Cut(line); ok {
			clients.Add(begin.Use())
		}
	}
	return seen, nil
}
