package pressure

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// These are the number of keys of a multiget, and the size of each value. A client's window accepts a part of the
	// answer, and the remaining 64 KiB stay on the server's side of the connection.
	keys  = 12
	value = 7 << 10

	// pending is how many bytes of its next request a client has already sent. They nearly fill memcached's read buffer.
	pending = 15 << 10

	// fillers is the number of connections that fill the memory, in addition to the control connection.
	fillers = 2

	// smallest is the memory that the smallest item needs. It decides how many items fill the memory.
	smallest = 96
)

// Load describes a memcached, and the largest load that it must bear.
type Load struct {
	// Address is where memcached listens.
	Address string

	// TLS is set if memcached listens with TLS.
	TLS *tls.Config

	// ItemMemory is memcached's option -m, in bytes.
	ItemMemory int64

	// Connections is spec.maxConnections. All of these connections are opened.
	Connections int

	// MaxItemSize is memcached's option -I, in bytes.
	MaxItemSize int64
}

// Bear opens all connections, and sends a multiget on each without reading its answer. In the meantime, it fills the
// memory with the smallest items, so that the hash table grows to its largest size, and stores an item in every slab
// class. It returns the number of slab classes.
func (l Load) Bear(ctx context.Context) (slabClasses int, err error) {
	control, err := l.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer control.Close()
	if err := l.store(control); err != nil {
		return 0, err
	}
	busy, err := l.dialAll(ctx, l.Connections-fillers-1)
	defer closeAll(busy)
	if err != nil {
		return 0, err
	}
	if err := l.multiget(ctx, control, busy); err != nil {
		return 0, fmt.Errorf("multiget on %d connections: %w", len(busy), err)
	}
	if err := l.fill(ctx); err != nil {
		return 0, fmt.Errorf("fill the memory: %w", err)
	}
	// Do this while the hash table grows, which takes seconds.
	if slabClasses, err = touchClasses(control); err != nil {
		return 0, fmt.Errorf("touch the slab classes: %w", err)
	}
	return slabClasses, until(ctx, control, full)
}

// store stores the keys of the multigets, and an item of nearly the largest size.
func (l Load) store(control *client) error {
	for i := range keys {
		if err := control.stored(fmt.Sprint("multiget", i), value); err != nil {
			return err
		}
	}
	return control.stored("largest", l.MaxItemSize*9/10)
}

func (l Load) dialAll(ctx context.Context, number int) (clients []*client, err error) {
	for range number {
		client, err := l.dial(ctx)
		if err != nil {
			return clients, fmt.Errorf("connection %d: %w", len(clients)+2, err)
		}
		clients = append(clients, client)
	}
	return clients, nil
}

func closeAll(clients []*client) {
	for _, client := range clients {
		_ = client.Close()
	}
}

// multiget sends a multiget on each connection, and returns when memcached is sending all answers.
func (l Load) multiget(ctx context.Context, control *client, busy []*client) error {
	var request strings.Builder
	request.WriteString("get")
	for i := range keys {
		fmt.Fprint(&request, " multiget", i)
	}
	request.WriteString("\r\nget ")
	request.WriteString(strings.Repeat("and-so-on ", pending/len("and-so-on ")))
	for _, client := range busy {
		if _, err := io.WriteString(client, request.String()); err != nil {
			return err
		}
	}
	return until(ctx, control, func(stats map[string]string) bool {
		return stats["get_hits"] == strconv.Itoa(keys*len(busy))
	})
}

// fill fills the memory with the smallest items, because more of these fit into it than of any other size.
func (l Load) fill(ctx context.Context) error {
	clients, err := l.dialAll(ctx, fillers)
	defer closeAll(clients)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for i, client := range clients {
		group.Go(func() error { return client.fill(string(rune('a'+i)), l.ItemMemory/smallest/fillers) })
	}
	return group.Wait()
}

// full reports whether the memory has no room for more items, and the hash table has its largest size: it has at most
// 1.5 items for each bucket. The table begins to grow only when an item is set.
func full(stats map[string]string) bool {
	items, itemsErr := strconv.ParseInt(stats["curr_items"], 10, 64)
	power, powerErr := strconv.Atoi(stats["hash_power_level"])
	return itemsErr == nil && powerErr == nil &&
		stats["evictions"] != "0" && stats["hash_is_expanding"] == "0" && items <= 3<<power/2
}

// fill sets items in batches, and waits for the answers of each batch, because otherwise requests would pile up in the
// kernel.
func (c *client) fill(prefix string, items int64) error {
	const batch = 5000
	out := bufio.NewWriterSize(c, 1<<16)
	for i := range items {
		_, _ = out.WriteString("set " + prefix)
		_, _ = out.WriteString(strconv.FormatInt(i, 36))
		_, _ = out.WriteString(" 0 0 1 noreply\r\n1\r\n")
		if i%batch != 0 && i != items-1 {
			continue
		}
		_, _ = out.WriteString("version\r\n")
		if err := out.Flush(); err != nil {
			return err
		}
		if _, err := c.answers.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

// touchClasses sets items of all sizes. It ignores that memcached has no room for some of them, because each slab class
// gets a page for its first item.
func touchClasses(control *client) (number int, err error) {
	const largest = 511 << 10
	for size := int64(16); size < largest; size += 4 + size/50 {
		if _, err := control.set(fmt.Sprint("class", size), size); err != nil {
			return 0, fmt.Errorf("set %d bytes: %w", size, err)
		}
	}
	stats, err := control.stats(" slabs")
	if err != nil {
		return 0, err
	}
	for number = 1; stats[fmt.Sprintf("%d:total_pages", number)] != ""; number++ {
	}
	number--
	if stats["active_slabs"] != strconv.Itoa(number) {
		return 0, fmt.Errorf("not all slab classes were used after an item of each size: "+
			"%d are in use, and memcached has %s", number, stats["active_slabs"])
	}
	return number, nil
}

// until waits until done returns true for memcached's statistics. It sets an item before each request for the
// statistics.
func until(ctx context.Context, control *client, done func(stats map[string]string) bool) error {
	for end := time.Now().Add(patience); ; {
		if err := control.stored("asked", 1); err != nil {
			return err
		}
		stats, err := control.stats("")
		if err != nil || done(stats) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("not done after %s: %v", patience, stats)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
