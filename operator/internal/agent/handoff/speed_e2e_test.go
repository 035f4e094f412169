//go:build e2e

package handoff_test

import (
	"flag"
	"runtime"
	"testing"
	"time"
)

var keys = flag.Int("keys", 200000, "keys of the copy that is measured")

// heapLimit is the largest heap that the agent may have while it copies any number of keys.
const heapLimit = 16 << 20

func TestTheHeapDoesNotGrowWithTheKeys(t *testing.T) {
	old, next := start(t), start(t)
	fill(t, old, *keys)
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	started := time.Now()
	r := run(t, dial(old), dial(next))
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for copied := false; !copied; {
		select {
		case <-r.copied:
			copied = true
		case err := <-r.result:
			t.Fatal(err)
		case <-ticker.C:
		}
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
	}
	took := time.Since(started)
	r.stop() // memcached can't log all reads at full speed
	_ = r.end(t)
	if got := held(t, next, *keys); got != *keys {
		t.Errorf("%d of %d keys", got, *keys)
	}
	t.Logf("%d keys in %s: %.0f per second, heap %d KiB, before %d KiB", *keys, took.Round(time.Millisecond),
		float64(*keys)/took.Seconds(), most>>10, before.HeapAlloc>>10)
	if most > before.HeapAlloc+heapLimit {
		t.Errorf("the heap has %d bytes", most)
	}
}
