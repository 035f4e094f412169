//go:build e2e

package resize_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/resize"
)

const mib = 1 << 20

var memory = flag.Int("memory", 256, "MiB of a full memcached that shrinks by half")

// followed is a memcached, with the follower that keeps it at the wanted memory.
type followed struct {
	*memcachedtest.Server

	wanted atomic.Int64 // bytes
}

func follow(t *testing.T, server *memcachedtest.Server) *followed {
	t.Helper()
	f := &followed{Server: server}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&resize.Follower{
			Wanted: f.wanted.Load, Dial: handoff.Server{Address: server.Address}.Dial,
			Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}).Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-done })
	return f
}

// start starts a memcached with this number of mebibytes for items, as a Pod of a cache with slots does.
func start(t *testing.T, mebibytes int) *memcachedtest.Server {
	t.Helper()
	t.Setenv("MALLOC_MMAP_THRESHOLD_", "524288")
	return memcachedtest.Start(t, memoryOf(mebibytes), "--extended=worker_logbuf_size=8192,watcher_logbuf_size=16384")
}

func memoryOf(mebibytes int) string { return fmt.Sprintf("--memory-limit=%d", mebibytes) }

// becomes changes the memory of memcached to this number of mebibytes, and waits until memcached has it and has freed
// the rest.
func (f *followed) becomes(t *testing.T, mebibytes int64) {
	t.Helper()
	f.wanted.Store(mebibytes * mib)
	const classes = 10
	gomega.NewWithT(t).Eventually(func(g gomega.Gomega) {
		g.Expect(f.stats(t, "")["limit_maxbytes"]).To(gomega.Equal(strconv.FormatInt(mebibytes*mib, 10)))
		taken, _ := strconv.ParseInt(f.stats(t, "slabs")["total_malloced"], 10, 64)
		g.Expect(taken).To(gomega.BeNumerically("<=", (mebibytes+classes)*mib))
	}).WithTimeout(2 * time.Minute).WithPolling(50 * time.Millisecond).Should(gomega.Succeed())
}

func (f *followed) stats(t *testing.T, kind string) map[string]string {
	t.Helper()
	client, err := protocol.Dial(t.Context(), f.Address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	stats, err := client.Stats(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// resident returns the resident memory of the process, in mebibytes.
func (f *followed) resident(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile("/proc/" + f.stats(t, "")["pid"] + "/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(content))[1])
	return pages * os.Getpagesize() / mib
}

// client sends quiet commands: memcached answers only some of them, such as hits.
type client struct {
	net.Conn
	answers *bufio.Reader
}

func (f *followed) connect(t *testing.T) *client {
	t.Helper()
	connection, err := net.Dial("tcp", f.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return &client{connection, bufio.NewReader(connection)}
}

// send sends commands, and returns how many of them were answered.
func (c *client) send(t *testing.T, count int, command func(n int) string) (answers int) {
	t.Helper()
	const together = 500
	for n := 0; n < count; n += together {
		var commands strings.Builder
		for i := n; i < min(count, n+together); i++ {
			commands.WriteString(command(i))
		}
		if _, err := c.Write([]byte(commands.String() + "mn\r\n")); err != nil {
			t.Fatal(err)
		}
		for {
			line, err := c.answers.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if line == "MN\r\n" {
				break
			}
			answers++
		}
	}
	return answers
}

// store stores items of several sizes, of 1,000 bytes on average, and reads each so often that memcached counts it as
// used.
func (c *client) store(t *testing.T, prefix string, count int) {
	t.Helper()
	sizes := []int{100, 900, 2000}
	c.send(t, count, func(n int) string {
		size := sizes[n%len(sizes)]
		return fmt.Sprintf("ms %s-%d %d q\r\n%s\r\n", prefix, n, size, strings.Repeat("x", size))
	})
	for range 3 {
		c.hits(t, prefix, count)
	}
}

func (c *client) hits(t *testing.T, prefix string, count int) int {
	t.Helper()
	return c.send(t, count, func(n int) string { return fmt.Sprintf("mg %s-%d s q\r\n", prefix, n) })
}

func TestAMemcachedThatGrowsKeepsAllKeysAndTakesMore(t *testing.T) {
	const keys = 50_000
	f := follow(t, start(t, 64))
	c := f.connect(t)
	c.store(t, "before", keys/2)
	had := c.hits(t, "before", keys/2)
	f.becomes(t, 128)
	c.store(t, "after", keys)
	if got := c.hits(t, "before", keys/2); got != had || got != keys/2 {
		t.Errorf("%d of %d keys, before it grew %d", got, keys/2, had)
	}
	if got := c.hits(t, "after", keys); got != keys {
		t.Errorf("%d of %d keys are stored in the new memory", got, keys)
	}
}

// TestAMemcachedThatShrinksKeepsTheHottestKeysAndGivesMemoryBack: in the meantime, clients read and write, and see no
// error.
func TestAMemcachedThatShrinksKeepsTheHottestKeysAndGivesMemoryBack(t *testing.T) {
	cold, hot := 600*(*memory), 300*(*memory)
	f := follow(t, start(t, *memory))
	c := f.connect(t)
	c.store(t, "cold", cold)
	<-time.After(2100 * time.Millisecond) // Memcached's clock counts seconds.
	c.store(t, "hot", hot)
	before := f.resident(t)
	errors, began := f.serve(t), time.Now()
	f.becomes(t, int64(*memory/2))
	t.Attr("shrink-seconds", fmt.Sprint(time.Since(began).Seconds()))
	if got := errors(); got > 0 {
		t.Errorf("%d requests failed", got)
	}
	got := c.hits(t, "hot", hot)
	t.Attr("hottest-kept-percent", fmt.Sprint(100*float64(got)/float64(hot)))
	if got < hot*95/100 {
		t.Errorf("%d of %d hot keys", got, hot)
	}
	if got := c.hits(t, "cold", cold); got < hot/8 {
		t.Errorf("%d cold keys: there is room for more", got)
	}
	after := f.resident(t)
	t.Logf("%d MiB before, %d MiB after", before, after)
	if before-after < (*memory)*100/256 {
		t.Errorf("%d MiB before, %d MiB after", before, after)
	}
}

// serve starts a client that reads and writes. The returned function ends the client, and returns how many requests
// failed.
func (f *followed) serve(t *testing.T) (failed func() int) {
	t.Helper()
	c, stop, done := f.connect(t), make(chan struct{}), make(chan int)
	go func() {
		wrong := 0
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- wrong
				return
			default:
			}
			wrong += c.send(t, 1, func(int) string { return fmt.Sprintf("ms serving-%d 900 q\r\n%s\r\n", n%100, strings.Repeat("y", 900)) })
		}
	}()
	return func() int { close(stop); return <-done }
}

func TestAMemcachedThatRestartsGetsTheMemoryAgain(t *testing.T) {
	server := start(t, 64)
	f := follow(t, server)
	f.becomes(t, 100)
	server.Signal(t, syscall.SIGKILL)
	<-server.Ended()
	f.Server = memcachedtest.StartAt(t, server.Address, memoryOf(64))
	f.becomes(t, 100)
}

// TestAMemcachedThatShrinksTakesNoMoreUntilItHas: while the agent removes keys so that memcached can
// shrink, memcached takes no more memory than it had when this began.
func TestAMemcachedThatShrinksTakesNoMoreUntilItHas(t *testing.T) {
	const whole, small = 512, 64
	f := follow(t, start(t, whole))
	c := f.connect(t)
	c.store(t, "before", 150_000)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for writer, n := f.connect(t), 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				writer.send(t, 500, func(i int) string {
					return fmt.Sprintf("ms more-%d-%d 900 q\r\n%s\r\n", n, i, strings.Repeat("z", 900))
				})
			}
		}
	}()
	f.wanted.Store(small * mib)
	var held, most int64
	gomega.NewWithT(t).Eventually(func() int64 {
		limit, _ := strconv.ParseInt(f.stats(t, "")["limit_maxbytes"], 10, 64)
		if taken, _ := strconv.ParseInt(f.stats(t, "slabs")["total_malloced"], 10, 64); limit < whole*mib {
			held, most = max(held, limit), max(most, taken)
		}
		return limit
	}).WithTimeout(2 * time.Minute).WithPolling(time.Millisecond).Should(gomega.BeEquivalentTo(small * mib))
	close(stop)
	<-done
	t.Logf("%d MiB are taken, %d allowed", most/mib, held/mib)
	const classes = 5
	if held <= small*mib || most > held+classes*mib {
		t.Errorf("%d MiB are taken, %d allowed", most/mib, held/mib)
	}
}
