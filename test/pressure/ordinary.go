package pressure

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	// busyShare says that one of this number of connections has a request in flight.
	busyShare = 10

	// medianValue and spread describe the log-normal distribution of the sizes of values. One in twenty values is larger
	// than 4 KiB.
	medianValue = 500
	spread      = 1.3

	// multiget is how many keys a client gets at a time, after each set.
	multiget = 10
)

// Use opens all connections, and uses one in ten of them as applications do: these clients get and set values of all
// sizes, and read each answer before they send the next request. When the clients have written more than memcached has
// room for, Use returns the number of evictions.
func (l Load) Use(ctx context.Context) (evictions string, err error) {
	control, err := l.dial(ctx)
	if err != nil {
		return "", err
	}
	defer control.Close()
	open, err := l.dialAll(ctx, l.Connections-1)
	defer closeAll(open)
	if err != nil {
		return "", err
	}
	busy := open[:len(open)/busyShare+1]
	var group errgroup.Group
	for i, client := range busy {
		group.Go(func() error { return client.use(uint64(i), l.ItemMemory, len(busy)) })
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	stats, err := control.stats("")
	return stats["evictions"], err
}

// use makes one client's part of the load. The same arguments give the same requests each time.
func (c *client) use(seed uint64, memory int64, clients int) error {
	const longest = 256 << 10
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // It needs no secret numbers.
	key := func() string { return fmt.Sprint("user:", random.Int64N(memory/medianValue)) }
	for written := int64(0); written < memory*3/2/int64(clients); {
		size := min(int64(medianValue*math.Exp(spread*random.NormFloat64())), longest)
		if _, err := c.set(key(), size); err != nil { // Its slab class may have no room.
			return err
		}
		written += size
		var request strings.Builder
		request.WriteString("get")
		for range multiget {
			request.WriteString(" " + key())
		}
		if err := c.get(request.String()); err != nil {
			return err
		}
	}
	return nil
}

// get reads the whole answer.
func (c *client) get(request string) error {
	if _, err := io.WriteString(c, request+"\r\n"); err != nil {
		return err
	}
	for {
		line, err := c.answers.ReadString('\n')
		if err != nil || line == "END\r\n" {
			return err
		}
		var key string
		var flags, size int
		if _, err := fmt.Sscanf(line, "VALUE %s %d %d\r\n", &key, &flags, &size); err != nil {
			return fmt.Errorf("memcached answers %q to a get: %w", line, err)
		}
		if _, err := io.CopyN(io.Discard, c.answers, int64(size)+2); err != nil {
			return err
		}
	}
}
