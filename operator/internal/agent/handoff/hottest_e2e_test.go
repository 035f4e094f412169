//go:build e2e

package handoff_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// zipf chooses keys at random: the n-th key with a probability in proportion to 1/n.
type zipf []float64

func newZipf(keys int) zipf {
	sums := make(zipf, keys)
	sum := 0.0
	for n := range sums {
		sum += 1 / float64(n+1)
		sums[n] = sum
	}
	return sums
}

func (z zipf) key() int { return sort.SearchFloat64s(z, rand.Float64()*z[len(z)-1]) }

// read reads keys, and returns the share of hits. If fills is true, it stores missing keys, as clients do.
func (z zipf) read(t *testing.T, server *memcachedtest.Server, requests int, fills bool) float64 {
	t.Helper()
	const pipelined = 100
	c, hits := connect(t, server), 0
	value := strings.Repeat("x", 100)
	for range requests / pipelined {
		keys, commands := make([]int, pipelined), strings.Builder{}
		for i := range keys {
			keys[i] = z.key()
			fmt.Fprintf(&commands, "mg key-%d s\r\n", keys[i])
		}
		if _, err := io.WriteString(c.connection, commands.String()); err != nil {
			t.Fatal(err)
		}
		commands.Reset()
		for _, key := range keys {
			line, err := c.reader.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(line, "HD") {
				hits++
			} else if fills {
				fmt.Fprintf(&commands, "ms key-%d %d q\r\n%s\r\n", key, len(value), value)
			}
		}
		if _, err := io.WriteString(c.connection, commands.String()); err != nil {
			t.Fatal(err)
		}
	}
	return float64(hits) / float64(requests)
}

// serve lets clients use memcached until it knows which keys they use most. This may take longer on a slow machine: the
// clock of memcached counts seconds, and there are fewer requests in each second.
func (z zipf) serve(t *testing.T, server *memcachedtest.Server) {
	t.Helper()
	const together, least = 10_000, 4_500_000
	end := time.Now().Add(10 * time.Second)
	for served := 0; served < least || time.Now().Before(end); served += together {
		z.read(t, server, together, true)
	}
}

// kept returns which share of the hits in the old memcached the new one keeps.
func (z zipf) kept(t *testing.T, r *running, old, next *memcachedtest.Server) float64 {
	t.Helper()
	r.stop() // memcached can't log all reads at full speed
	_ = r.end(t)
	const requests = 200_000
	before, after := z.read(t, old, requests, false), z.read(t, next, requests, false)
	t.Logf("hit ratio %.3f, then %.3f, %s evicted; %+v", before, after, statsOf(t, next)["evictions"], r.Progress())
	return after / before
}

// TestOfWhatDoesNotFitTheHottestIsCopied copies the keys into a memcached with half the memory. A copy in an arbitrary
// order would keep half the hits.
func TestOfWhatDoesNotFitTheHottestIsCopied(t *testing.T) {
	old := memcachedtest.Start(t, logBuffers, "--memory-limit=64")
	next := memcachedtest.Start(t, logBuffers, "--memory-limit=32")
	clients := newZipf(400_000)
	clients.serve(t, old)
	r := run(t, dial(old), dial(next))
	r.copy(t)
	if got := clients.kept(t, r, old, next); got < 0.9 {
		t.Errorf("%.3f of the hits are kept", got)
	}
	if got := r.Progress(); got.Skipped < 50_000 {
		t.Errorf("what cannot fit is copied: %+v", got)
	}
}

// TestAMemcachedThatEndsTooSoonHandsItsHottestKeysOver copies over a connection that is too slow to copy all keys
// before the old memcached ends.
func TestAMemcachedThatEndsTooSoonHandsItsHottestKeysOver(t *testing.T) {
	t.Parallel()
	const keys, hot, within, bytesPerSecond = 150_000, 10_000, 9 * time.Second, 1 << 20
	old, next := start(t), start(t)
	fill(t, old, keys)
	<-time.After(2 * time.Second) // Memcached's clock counts seconds.
	c := connect(t, old)
	for range 3 { // Memcached counts an item as used only after it was read twice.
		for n := range hot {
			if answer, err := c.ask(fmt.Sprintf("mg key-%d s", n)); err != nil || !strings.HasPrefix(answer, "HD") {
				t.Fatalf("key-%d: %q, %v", n, answer, err)
			}
		}
	}
	r := begin(t, dial(old), throttled(next, bytesPerSecond), func(ctx context.Context, h *handoff.Handoff) error {
		h.Settings = handoff.Settings{Rate: 16 * bytesPerSecond, Within: within}
		return h.Run(ctx)
	})
	r.copy(t)
	copied, kept := r.Progress().Keys, held(t, next, hot)
	if copied > keys/2 || float64(kept) < 0.95*min(float64(copied), hot) {
		t.Errorf("of %d copied keys, %d are of the %d hottest", copied, kept, hot)
	}
}

// throttled returns a Dial for a memcached whose connections each send at most this number of bytes per second.
func throttled(server *memcachedtest.Server, bytesPerSecond int) handoff.Dial {
	return func(ctx context.Context) (net.Conn, error) {
		connection, err := dial(server)(ctx)
		return &slowConnection{connection, bytesPerSecond}, err
	}
}

// slowToRead returns a Dial for a memcached whose answers come through a slow network.
func slowToRead(server *memcachedtest.Server, bytesPerSecond int) handoff.Dial {
	return func(ctx context.Context) (net.Conn, error) {
		connection, err := dial(server)(ctx)
		return &slowAnswers{slowConnection{connection, bytesPerSecond}}, err
	}
}

type slowAnswers struct{ slowConnection }

func (c *slowAnswers) Write(content []byte) (int, error) { return c.Conn.Write(content) }

func (c *slowAnswers) Read(content []byte) (int, error) {
	read, err := c.Conn.Read(content)
	time.Sleep(time.Duration(read) * time.Second / time.Duration(c.bytesPerSecond))
	return read, err
}

type slowConnection struct {
	net.Conn

	bytesPerSecond int
}

func (c *slowConnection) Write(content []byte) (int, error) {
	time.Sleep(time.Duration(len(content)) * time.Second / time.Duration(c.bytesPerSecond))
	return c.Conn.Write(content)
}

// CloseWrite ends the sending half of the connection.
func (c *slowConnection) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }
