package handoff

// Finds out, from the log of a memcached, whether any agent copies keys from it or to it.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/uselog"
)

// markersWithin is how long it takes until a marker is in the log of a memcached whose keys are copied: an agent writes
// another marker if the first marker is not in the log within lostAfter.
const markersWithin = 3 * lostAfter

// IsMarker reports whether a key in memcached's log was written by an agent that copies keys.
func IsMarker(key []byte) bool { return bytes.HasPrefix(key, []byte(markerPrefix)) }

// IsBusy reports whether an agent copies keys from a memcached or to it. That a client watches the log does not prove
// it, because that client may only observe how memcached is used.
func IsBusy(ctx context.Context, dial Dial) (bool, error) {
	connection, err := dial(ctx)
	if err != nil {
		return false, err
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { _ = connection.SetDeadline(time.Unix(1, 0)) })()
	if err := connection.SetDeadline(time.Now().Add(markersWithin)); err != nil {
		return false, err
	}
	if _, err := connection.Write([]byte("watch mutations\r\n")); err != nil {
		return false, err
	}
	lines := bufio.NewReaderSize(connection, streamBuffer)
	if answer, err := readLine(lines); err != nil || answer != "OK" {
		return false, errors.Join(err, fmt.Errorf("memcached answers to watch: %.200q", answer))
	}
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil:
			return false, nil
		case err != nil:
			return false, err
		}
		if begin, ok := uselog.Cut(line); ok && IsMarker(begin.Key) {
			return true, nil
		}
	}
}
