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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// load reads keys of a memcached, and stores what it does not find.
type load struct {
	server *memcachedtest.Server
	random *rand.Rand
	keys   []float64 // cumulated popularity
	reads  int
	hits   int
}

func newLoad(server *memcachedtest.Server, keys int, exponent float64) *load {
	l, total := &load{server: server, random: rand.New(rand.NewPCG(1, 2))}, 0.
	for i := range keys {
		total += math.Pow(float64(i+1), -exponent)
		l.keys = append(l.keys, total)
	}
	return l
}

func (l *load) draw() int {
	aim, low, high := l.random.Float64()*l.keys[len(l.keys)-1], 0, len(l.keys)-1
	for low < high {
		if middle := (low + high) / 2; l.keys[middle] < aim {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// size is that of the value of a key: 64 bytes to 32 KiB.
func size(key int) int {
	scattered := uint32(key) * 2654435761
	return 64<<(scattered>>28%9) + int(scattered>>8%64)
}

// run sends so many reads a second.
func (l *load) run(t *testing.T, rate int, took time.Duration) {
	t.Helper()
	connection, err := net.Dial("tcp", l.server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	answers, value := bufio.NewReaderSize(connection, 1<<20), strings.Repeat("x", 64<<10)
	const together = 50
	for n, began := 0, time.Now(); time.Since(began) < took; n += together {
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		var commands strings.Builder
		keys := make([]int, together)
		for i := range keys {
			keys[i] = l.draw()
			fmt.Fprintf(&commands, "mg key%d v\r\n", keys[i])
		}
		_, _ = io.WriteString(connection, commands.String())
		commands.Reset()
		for _, key := range keys {
			line, err := answers.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			l.reads++
			if rest, ok := strings.CutPrefix(line, "VA "); ok {
				l.hits++
				length, _ := strconv.Atoi(strings.TrimSpace(rest))
				_, _ = answers.Discard(length + 2)
			} else {
				fmt.Fprintf(&commands, "ms key%d %d q\r\n%s\r\n", key, size(key), value[:size(key)])
			}
		}
		_, _ = io.WriteString(connection, commands.String())
	}
}

func (l *load) hitRatio() float64 { return float64(l.hits) / float64(l.reads) }

func TestARealMemcachedWithAnotherMemoryIsAsPredicted(t *testing.T) {
	const rate, keys = 8000, 300_000
	server := memcachedtest.Start(t, "--memory-limit=64", "--extended=worker_logbuf_size=8192,watcher_logbuf_size=16384")
	w := New(func(ctx context.Context) (*protocol.Client, error) { return protocol.Dial(ctx, server.Address, nil) },
		slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	defer func() { stop(); <-done }()
	ask(t, w)
	now := newLoad(server, keys, 0.9)
	go func() {
		for ctx.Err() == nil {
			time.Sleep(time.Second)
			ask(t, w)
		}
	}()
	now.run(t, rate, 40*time.Second)
	report, _ := ask(t, w)
	t.Logf("%+v", report)
	for _, age := range []int64{5, 10, 20} {
		var point usage.Point
		for _, p := range report.Curve {
			if p.Age <= age {
				point = p
			}
		}
		other := memcachedtest.Start(t, fmt.Sprintf("--memory-limit=%d", point.Memory>>20))
		load := newLoad(other, keys, 0.9)
		load.run(t, rate, time.Duration(2*age)*time.Second)
		load.hits, load.reads = 0, 0
		load.run(t, rate, 20*time.Second)
		client, _ := protocol.Dial(t.Context(), other.Address, nil)
		items, _ := client.Stats(t.Context(), "items")
		slabs, _ := client.Stats(t.Context(), "slabs")
		var evicted []string
		for class := range 40 {
			evicted = append(evicted, items[fmt.Sprintf("items:%d:evicted_time", class)]+"/"+slabs[fmt.Sprintf("%d:total_pages", class)]+"/"+slabs[fmt.Sprintf("%d:free_chunks", class)])
		}
		t.Logf("age %d: %d MiB, hit ratio %.4f, expected %.4f; evicted after %s", point.Age, point.Memory>>20, load.hitRatio(), point.HitRatio, evicted)
	}
}
