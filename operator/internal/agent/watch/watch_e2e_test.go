//go:build e2e

package watch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// load reads keys of a memcached by Zipf's law, and stores what it does not find.
type load struct {
	client  net.Conn
	answers *bufio.Reader
	random  *rand.Rand
	keys    []float64 // cumulated popularity
	reads   int
	found   int
}

func newLoad(t *testing.T, server *memcachedtest.Server, keys int) *load {
	t.Helper()
	const exponent = 0.9
	client, err := net.Dial("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	l := &load{client: client, answers: bufio.NewReaderSize(client, 1<<20), random: rand.New(rand.NewPCG(1, 2))}
	total := 0.
	for i := range keys {
		total += math.Pow(float64(i+1), -exponent)
		l.keys = append(l.keys, total)
	}
	return l
}

func (l *load) draw() int {
	return sort.SearchFloat64s(l.keys, l.random.Float64()*l.keys[len(l.keys)-1])
}

// size returns the size of the value of a key: 64 bytes to 16 KiB.
func size(key int) int {
	scattered := uint32(key) * 2654435761
	return 64<<(scattered>>28%9) + int(scattered>>8%64)
}

// run sends reads at this rate, in reads per second.
func (l *load) run(t *testing.T, rate int, took time.Duration) {
	t.Helper()
	const together = 50
	pace := time.NewTicker(together * time.Second / time.Duration(rate))
	defer pace.Stop()
	for began := time.Now(); time.Since(began) < took; <-pace.C {
		if err := l.read(together); err != nil {
			t.Fatal(err)
		}
	}
}

// read reads this number of keys together, and stores those that are not found.
func (l *load) read(together int) error {
	var gets, sets strings.Builder
	keys := make([]int, together)
	for i := range keys {
		keys[i] = l.draw()
		fmt.Fprintf(&gets, "mg key%d v\r\n", keys[i])
	}
	if _, err := io.WriteString(l.client, gets.String()); err != nil {
		return err
	}
	for _, key := range keys {
		line, err := l.answers.ReadString('\n')
		if err != nil {
			return err
		}
		l.reads++
		rest, found := strings.CutPrefix(line, "VA ")
		if !found {
			fmt.Fprintf(&sets, "ms key%d %d q\r\n%0*d\r\n", key, size(key), size(key), 0)
			continue
		}
		l.found++
		length, _ := strconv.Atoi(strings.TrimSpace(rest))
		if _, err := l.answers.Discard(length + len("\r\n")); err != nil {
			return err
		}
	}
	_, err := io.WriteString(l.client, sets.String())
	return err
}

func startWatcher(t *testing.T, server *memcachedtest.Server) *Watcher {
	t.Helper()
	w := New(func(ctx context.Context) (*protocol.Client, error) { return protocol.Dial(ctx, server.Address, nil) },
		neverCopied, slog.New(slog.NewTextHandler(t.Output(), nil)))
	w.copied = time.Now().Add(-time.Hour) // as if the agent had started an hour ago
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-done })
	return w
}

// TestARealMemcachedWithAnotherMemoryIsAsPredicted watches a memcached, and then uses a memcached with the memory that
// was predicted for a longer age. An age of seconds in this test stands for one of hours in production.
func TestARealMemcachedWithAnotherMemoryIsAsPredicted(t *testing.T) {
	const rate, keys, slices, aim = 8000, 300_000, 12, 10
	server := memcachedtest.Start(t, "--memory-limit=64")
	watcher, now := startWatcher(t, server), newLoad(t, server, keys)
	for range slices {
		ask(t, watcher)
		now.run(t, rate, 2*time.Second)
	}
	report, reason := ask(t, watcher)
	if reason != "" || !report.Evicting || report.EvictedAge >= aim || report.Memory != 64*page {
		t.Fatalf("%s %+v", reason, report)
	}
	point := pointOf(t, report, aim)

	other := memcachedtest.Start(t, fmt.Sprintf("--memory-limit=%d", point.Memory/page))
	then := newLoad(t, other, keys)
	then.run(t, rate, 2*aim*time.Second)
	then.reads, then.found = 0, 0
	then.run(t, rate, aim*time.Second)
	ratio, age := float64(then.found)/float64(then.reads), evictedAge(t, other)
	t.Logf("%d MiB instead of 64: hit ratio %.3f, %.3f predicted; an age of %d s, %d s predicted",
		point.Memory/page, ratio, point.HitRatio, age, point.Age)
	if math.Abs(ratio-point.HitRatio) > 0.03 || math.Abs(float64(age-point.Age)) > 0.3*aim {
		t.Errorf("a hit ratio of %.3f, and an age of %d s", ratio, age)
	}
}

func pointOf(t *testing.T, report usage.Report, age int64) usage.Point {
	t.Helper()
	for _, point := range report.Curve {
		if point.Age >= age {
			return point
		}
	}
	t.Fatalf("no memory for %d s: %+v", age, report)
	return usage.Point{}
}

// evictedAge returns the age of evicted items of the slab class with the most memory.
func evictedAge(t *testing.T, server *memcachedtest.Server) (age int64) {
	t.Helper()
	client, err := protocol.Dial(t.Context(), server.Address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	items, err := client.Stats(t.Context(), "items")
	if err != nil {
		t.Fatal(err)
	}
	slabs, err := client.Stats(t.Context(), "slabs")
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for class, stats := range exporter.ByClass(slabs, "") {
		if pages, _ := strconv.Atoi(stats["total_pages"]); pages > most {
			most = pages
			age, _ = strconv.ParseInt(items["items:"+class+":evicted_time"], 10, 64)
		}
	}
	return age
}
