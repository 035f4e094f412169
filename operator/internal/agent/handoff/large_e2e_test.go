//go:build e2e

package handoff_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/memcachedtest"
	"github.com/example-inc/memcached-operator/internal/testing/statistics"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

var (
	large = flag.Int("mebibytes", 64, "size of the large memcached that is copied")
	rate  = flag.Int64("rate", 64<<20, "bytes per second of its copy")
)

// largeValue makes an item of 1 KiB.
const largeValue = 1000

// TestALargeMemcachedIsCopiedWhole: the copy has every key, though clients read in the meantime. make bench measures
// how long it takes for larger memcacheds, and how long their clients wait.
func TestALargeMemcachedIsCopiedWhole(t *testing.T) {
	count := *large << 20 / largeValue
	limit := fmt.Sprintf("--memory-limit=%d", *large*3/2+64) // The overhead of items takes a tenth of the memory.
	old, next := memcachedtest.Start(t, logBuffers, limit), memcachedtest.Start(t, logBuffers, limit)
	fillWith(t, old, count, strings.Repeat("x", largeValue))
	before := latencies(t, old, count, func() { time.Sleep(5 * time.Second) })
	var r *running
	var took time.Duration
	during := latencies(t, old, count, func() {
		started := time.Now()
		r = begin(t, dial(old), dial(next), func(ctx context.Context, h *handoff.Handoff) error {
			h.Settings.Rate = *rate
			return h.Run(ctx)
		})
		select {
		case <-r.copied:
		case err := <-r.result:
			t.Errorf("not copied: %v", err)
		}
		took = time.Since(started)
	})
	kept := held(t, next, count)
	r.finish(t, old)
	if kept != count {
		t.Errorf("%d of %d keys are copied", kept, count)
	}
	t.Attr("copy-seconds", fmt.Sprint(took.Seconds())) // make bench reads these.
	t.Attr("kept-percent", fmt.Sprint(100*float64(kept)/float64(count)))
	t.Attr("before-milliseconds", fmt.Sprint(before))
	t.Attr("during-milliseconds", fmt.Sprint(during))
}

// latencies calls what, and returns the p99 of reads in the meantime, in milliseconds. All clients together read 2,000
// times a second.
func latencies(t *testing.T, server *memcachedtest.Server, count int, what func()) float64 {
	t.Helper()
	const clients, pause = 16, 8 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	var (
		work sync.WaitGroup
		mu   sync.Mutex
		all  []float64
	)
	for i := range clients {
		c := connect(t, server)
		work.Go(func() {
			var own []float64
			ticker := time.NewTicker(pause)
			defer ticker.Stop()
			for key := i; ctx.Err() == nil; key += clients {
				<-ticker.C
				started := time.Now()
				if _, _, err := c.get(fmt.Sprintf("key-%d", key*7919%count), ""); err != nil {
					t.Errorf("a read failed: %v", err)
					break
				}
				own = append(own, float64(time.Since(started).Microseconds())/1000)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	what()
	stop()
	work.Wait()
	return statistics.Percentile(all, 99)
}
