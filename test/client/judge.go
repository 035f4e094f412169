package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/internal/testing/consistency"
	"github.com/example-inc/memcached-operator/operator/clienthash"
)

// staleBound is for how long after a write clients may read an older value while a slot moves (docs/slots.md), if the
// machine is otherwise idle.
const staleBound = 100 * time.Millisecond

// judging has the settings of the clients that judge a cache, here called judging clients.
type judging struct {
	*options

	slots, clients, writes int
	readEvery              int // a client reads after each group of so many writes
	size                   int // of the values of keys that are stored once
	duration               time.Duration
	staleBound             time.Duration

	// address returns the address of a slot, or the DNS name of the slot.
	address func(slot int) string

	// hash is how clients choose a slot, as in spec.slots.clientHash. If it is set, they find out the number of slots by
	// DNS.
	hash string
}

func judgeCommand(o *options) *cobra.Command {
	j := judging{options: o}
	j.address = j.nameOf
	cmd := &cobra.Command{
		Use:   "judge",
		Short: "Write, read and delete keys of slots over many connections until release, and judge each answer",
		Long: "Write, read and delete keys of slots over many connections until release, or for a while.\n" +
			"Only one connection at a time writes a key, each time with a new version. An answer is wrong if no order " +
			"of\nthe writes explains it. A value that was overwritten just before is not wrong.",
		Args:    cobra.NoArgs,
		Example: "  client judge --endpoint shop-slots.team.svc:11211 --slots 3 --keys 10000 --writes 2000",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := clienthash.New(clienthash.Algorithm(j.hash), []string{"any:11211"}); j.hash != "" && err != nil {
				return fmt.Errorf("--hash: %w", err)
			}
			result, err := j.run(cmd.Context())
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
		},
	}
	cmd.Flags().IntVar(&j.slots, "slots", 1, "how many slots the cache has")
	cmd.Flags().StringVar(&j.hash, "hash", "",
		"how clients choose a slot, as slots.clientHash; they then find out by DNS how many there are")
	cmd.Flags().IntVar(&j.clients, "clients", 16, "how many clients, each with a connection to each slot")
	cmd.Flags().IntVar(&j.writes, "writes", 2000, "writes a second, of all clients together")
	cmd.Flags().DurationVar(&j.staleBound, "stale-bound", staleBound,
		"how long after a write an older value may be read, in addition to how late the machine is")
	cmd.Flags().IntVar(&j.readEvery, "read-every", 1, "number of writes after which a client reads")
	cmd.Flags().IntVar(&j.size, "size", 0, "size of the values that are stored once, in bytes; shorter values are "+
		"padded with spaces")
	cmd.Flags().DurationVar(&j.duration, "for", 10*time.Minute, "how long at most")
	return cmd
}

// Judged is what a judging client found.
type Judged struct {
	Writes    int `json:"writes"`
	Deletions int `json:"deletions"`
	Reads     int `json:"reads"`
	Misses    int `json:"misses"` // reads that missed a key that is written again and again
	Errors    int `json:"errors"` // requests that failed at the second attempt, too

	// Reconnected counts requests that succeeded at the second attempt, over a new connection.
	Reconnected int `json:"reconnected"`

	// Outdated counts the keys of which a client read a value that no order of the writes explains: for example, a value
	// that was overwritten or deleted earlier than the bound and the delay of the machine allow. For the reads at the end,
	// the bound and the delay are 0.
	Outdated int `json:"outdated"`

	// Oldest is the longest time, in milliseconds, for which a value was still read after it was replaced.
	Oldest float64 `json:"oldestMs"`

	// Late is the longest delay of the machine itself, in milliseconds. The bound for outdated values was increased by up
	// to this delay.
	Late float64 `json:"lateMs"`

	// Untouched is how many keys were stored once, at the beginning, and Kept is how many of them still exist at the end.
	Untouched int `json:"untouched"`
	Kept      int `json:"kept"`

	// Seconds are what the clients saw, second by second since Began.
	Began   time.Time `json:"began"`
	Seconds []Second  `json:"seconds,omitempty"`

	Failures []string `json:"failures,omitempty"`
}

func (j *judging) run(ctx context.Context) (Judged, error) {
	book := newBook(j.keys, j.staleBound)
	if err := j.store(book); err != nil {
		return Judged{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.duration)
	defer cancel()
	work, ctx := errgroup.WithContext(ctx)
	for i := range j.clients {
		work.Go(func() error {
			c := j.newJudge(book, i)
			defer c.close()
			return c.work(ctx, time.Second*time.Duration(j.clients)/time.Duration(j.writes))
		})
	}
	work.Go(func() error { return book.late.measure(ctx) })
	work.Go(func() error { return j.awaitRelease(ctx, cancel) })
	if err := work.Wait(); err != nil {
		return Judged{}, err
	}
	err := j.last(book)
	return book.result, err
}

// store stores the keys that are never written again.
func (j *judging) store(book *book) error {
	c := j.newJudge(book, 0)
	defer c.close()
	for i := range j.keys {
		name := untouched(i)
		if err := c.slot(name).Set(&memcache.Item{Key: name, Value: []byte(j.valueOf(i))}); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	// A caller that waits for this key knows that the clients work from now on.
	return c.slot(heldKey).Set(&memcache.Item{Key: heldKey, Value: []byte(resume)})
}

// awaitRelease ends the work once another run of the client has stored the value "released".
func (j *judging) awaitRelease(ctx context.Context, end context.CancelFunc) error {
	c := j.newJudge(newBook(0, 0), 0)
	defer c.close()
	for ticks := time.Tick(time.Second); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
		c.relist()
		for slot := range c.connections {
			c.renew(slot)
			if item, err := c.connections[slot].Get(heldKey); err == nil && string(item.Value) == released {
				end()
			}
		}
	}
}

// last reads every key once more over new connections. Nothing moves any more, so these reads must not return an older
// value.
func (j *judging) last(book *book) error {
	c := j.newJudge(book, 0)
	defer c.close()
	for i := range j.keys {
		switch item, err := c.slot(untouched(i)).Get(untouched(i)); {
		case err == nil && string(item.Value) == j.valueOf(i):
			book.result.Kept++
		case err != nil && !errors.Is(err, memcache.ErrCacheMiss):
			return fmt.Errorf("get %s: %w", untouched(i), err)
		}
	}
	for i := range book.keys {
		began := time.Now()
		switch item, err := c.slot(key(i)).Get(key(i)); {
		case err == nil:
			book.accesses.Add(consistency.Access{Key: key(i), Began: began, Ended: time.Now(), Value: string(item.Value)})
		case !errors.Is(err, memcache.ErrCacheMiss):
			return fmt.Errorf("get %s: %w", key(i), err)
		}
	}
	book.result.Untouched, book.result.Began, book.result.Seconds = j.keys, book.began, book.seconds()
	return book.judge()
}

func untouched(i int) string { return fmt.Sprintf("untouched-%d", i) }

func (j *judging) valueOf(i int) string { return fmt.Sprintf("%-*s", j.size, value(i)) }

// judge is one client. It has a connection to each slot, and asks DNS again at its own times.
type judge struct {
	*judging

	book        *book
	random      *rand.Rand
	connections []*memcache.Client
	moveAt      []time.Time

	choose clienthash.Chooser // nil without a hash
}

// mostDelay is how long a client may use a connection before it asks DNS again. Each client has its own delays.
const mostDelay = 10 * time.Second

func (j *judging) newJudge(book *book, i int) *judge {
	c := &judge{judging: j, book: book, random: rand.New(rand.NewPCG(uint64(i), 1))} //nolint:gosec // not for secrets
	c.open(j.listed())
	return c
}

// open connects to the given number of slots.
func (c *judge) open(slots int) {
	c.close()
	c.connections, c.moveAt = make([]*memcache.Client, slots), make([]time.Time, slots)
	var names []string
	for slot := range slots {
		c.connect(slot)
		names = append(names, c.nameOf(slot))
	}
	if c.hash != "" {
		c.choose, _ = clienthash.New(clienthash.Algorithm(c.hash), names) // It was validated.
	}
}

// listed returns how many slots DNS lists now.
func (j *judging) listed() int {
	if j.hash == "" {
		return j.slots
	}
	for slots := 0; ; slots++ {
		host, _, _ := net.SplitHostPort(j.nameOf(slots))
		_, err := net.LookupHost(host)
		if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound && slots > 0 {
			return slots
		}
	}
}

func (c *judge) close() {
	for _, connection := range c.connections {
		_ = connection.Close()
	}
}

// nameOf is the name of a slot. For the endpoint shop-slots.team.svc, slot 0 is shop-0.shop-slots.team.svc.
func (j *judging) nameOf(slot int) string {
	host, port, _ := net.SplitHostPort(j.endpoint) // it was validated
	service, _, _ := strings.Cut(host, ".")
	return net.JoinHostPort(fmt.Sprintf("%s-%d.%s", strings.TrimSuffix(service, "-slots"), slot, host), port)
}

// slot returns the connection for a key.
func (c *judge) slot(key string) *memcache.Client { return c.connections[c.slotOf(key)] }

func (c *judge) slotOf(key string) int {
	if c.choose != nil {
		return c.choose([]byte(key))
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key))
	return int(hash.Sum32() % uint32(c.slots)) //nolint:gosec // a few slots
}

// renew opens a new connection to the address that DNS has for the slot now.
func (c *judge) renew(slot int) {
	_ = c.connections[slot].Close()
	c.connect(slot)
}

// connect asks DNS for a slot, and decides when to ask again.
func (c *judge) connect(slot int) {
	c.connections[slot] = newClient(c.access.dial, prompt, c.address(slot))
	c.moveAt[slot] = time.Now().Add(time.Duration(c.random.Int64N(int64(mostDelay))))
}
