// Package traffic reads which keys clients use, from the log that memcached sends to a connection that watches it.
//
// A dump of all keys by the LRU crawler would show when each key was used last, but not how often. It would also read
// the whole memory, and keep the crawler from expiring items and from handing keys over in that time. A watched log
// makes no client wait: memcached skips lines if they are not read fast enough. It costs memcached the CPU time of
// formatting a line for each request.
package traffic

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/plugin/reach"
)

// Use is a line of the log: a client has read a key, or stored it. Increments, touches and deletions are logged as
// reads.
type Use struct {
	Key         string
	Read, Found bool
	Size        int // of the value; 0 if memcached does not log it, or did not find the key

	connection string
}

// Limits end the reading of a log.
type Limits struct {
	For   time.Duration
	Lines int // of a server
}

// Seen is how much of the log was read.
type Seen struct {
	Lines   int           `json:"lines"`
	Skipped int           `json:"skipped"` // by memcached, since it was read too slowly
	Took    time.Duration `json:"-"`

	// Ended is why the reading ended early, after some of the log was read.
	Ended string `json:"ended,omitempty"`
}

// Watch reads the log of a server, and passes each use. The connection can't be used for anything else afterwards. What
// was read counts, also if the Pod is deleted or the user interrupts the reading.
func Watch(limits Limits, use func(Use)) func(context.Context, *reach.Connection) (Seen, error) {
	return func(ctx context.Context, connection *reach.Connection) (Seen, error) {
		if _, err := io.WriteString(connection, "watch fetchers mutations\r\n"); err != nil {
			return Seen{}, fmt.Errorf("memcached accepts no commands: %w", err)
		}
		lines := bufio.NewReader(connection)
		switch answer, err := lines.ReadString('\n'); {
		case err != nil:
			return Seen{}, fmt.Errorf("memcached stopped answering: %w", err)
		case answer != "OK\r\n":
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

// read passes the uses of lines. Memcached logs a read of its own before each store, which no client has requested.
func read(lines *bufio.Reader, most int, use func(Use)) (seen Seen, err error) {
	var held *Use // a read, until the next line shows whose it was
	release := func() {
		if held != nil {
			use(*held)
		}
		held = nil
	}
	defer release()
	for seen.Lines < most {
		line, err := lines.ReadString('\n')
		if err != nil {
			return seen, err
		}
		seen.Lines++
		line = strings.TrimRight(line, "\r\n")
		if skipped, ok := strings.CutPrefix(line, "skipped="); ok {
			count, _ := strconv.Atoi(skipped)
			seen.Skipped += count
		} else if u, ok := parse(line); ok {
			if held != nil && !u.Read && u.Key == held.Key && u.connection == held.connection {
				held = nil
			}
			release()
			held = &u
		}
	}
	return seen, nil
}

// parse reads a line such as
//
//	ts=1.5 gid=7 type=item_get key=a%20b status=found clsid=1 cfd=30 size=1
func parse(line string) (u Use, ok bool) {
	for field := range strings.SplitSeq(line, " ") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "type":
			u.Read, ok = value == "item_get", value == "item_get" || value == "item_store"
		case "key":
			u.Key = value
			if key, err := url.PathUnescape(value); err == nil {
				u.Key = key
			}
		case "status":
			u.Found = value == "found" || value == "stored"
		case "cfd":
			u.connection = value
		case "size":
			u.Size, _ = strconv.Atoi(value)
		}
	}
	return u, ok && u.Key != ""
}
