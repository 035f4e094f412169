package handoff

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// busyFor is how long the LRU crawler of memcached may be busy. It serves one request at a time.
	busyFor = time.Minute

	retryBusy = 100 * time.Millisecond
)

// errBusy means that the dump can be tried again.
var errBusy = errors.New("memcached's LRU crawler is busy")

// dump passes the keys of the old memcached on, in batches.
func (c *copier) dump(ctx context.Context) {
	until := time.Now().Add(busyFor)
	for {
		err := c.tryDump(ctx)
		switch {
		case err == nil:
			close(c.dumped)
			return
		case !errors.Is(err, errBusy):
			c.old.lost(err)
			return
		case time.Now().After(until):
			c.fail(&Failure{Reason: CrawlerBusy, Err: fmt.Errorf("%w for %s", err, busyFor)})
			return
		}
		if Wait(ctx, retryBusy) != nil {
			return
		}
	}
}

func (c *copier) tryDump(ctx context.Context) error {
	connection, err := c.old.connect(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("lru_crawler mgdump hash\r\n")); err != nil {
		return err
	}
	reader := bufio.NewReader(connection)
	var keys []key
	for {
		text, err := readLine(reader)
		if err != nil {
			return err
		}
		if text == "EN" {
			return c.pass(ctx, keys)
		}
		if keys, err = c.listed(keys, text); err != nil {
			return err
		}
		if len(keys) == c.batchKeys {
			if err := c.pass(ctx, keys); err != nil {
				return err
			}
			keys = nil
		}
	}
}

// listed adds the key of a line of the dump.
func (c *copier) listed(keys []key, text string) ([]key, error) {
	switch {
	case strings.HasPrefix(text, "mg "):
		k, err := parseDump(text)
		if err != nil { // a key of the binary protocol, with a blank: no command can name it
			c.counts.skipped.Add(1)
			return keys, nil
		}
		return append(keys, k), nil
	case text == "OK":
		return keys, nil
	case strings.HasPrefix(text, "BUSY"), strings.HasPrefix(text, "ERROR locked"):
		return nil, errBusy
	case strings.Contains(text, "not allowed"), strings.Contains(text, "disabled"):
		return nil, &Failure{Reason: DumpForbidden, Err: fmt.Errorf("memcached answers %q", text)}
	}
	return nil, &Failure{Reason: Internal, Err: fmt.Errorf("memcached answers %.200q to mgdump", text)}
}

// pass hands keys of the dump over to be copied.
func (c *copier) pass(ctx context.Context, keys []key) error {
	select {
	case c.dumped <- keys:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
