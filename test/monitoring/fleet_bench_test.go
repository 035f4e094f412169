package monitoring

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/dashboards"
	"github.com/example-inc/memcached-operator/internal/testing/prometheus"
	"github.com/example-inc/memcached-operator/internal/testing/unused"
)

// These are the sizes of the fleet in the benchmark. docs/monitoring.md has the figures that were measured with it.
const (
	caches       = 1000
	podsOfCache  = 3
	slabClasses  = 15
	shown        = 6 * time.Hour    // the time range that the dashboard shows
	counted      = 10 * time.Minute // longer than the range of the queries for current values
	betweenReads = 30 * time.Second // Prometheus' usual interval
)

// BenchmarkQueriesOfAFleet measures each query of the fleet dashboard, with made-up series of 1,000 caches. All of them
// evict, and have metrics for each slab class.
func BenchmarkQueriesOfAFleet(b *testing.B) {
	at := time.Now().Truncate(time.Minute)
	server := madeUpFleet(b, at)
	for _, query := range dashboards.Queries(readDashboards(b)["fleet.json"]) {
		b.Run(query.Of, func(b *testing.B) {
			from := at.Add(-shown)
			if query.Instant {
				from = at
			}
			for b.Loop() {
				result, err := server.QueryRange(b.Context(), query.With(asInGrafana), from, at, betweenReads)
				if err != nil || len(result) == 0 {
					b.Fatalf("%d series, error: %v", len(result), err)
				}
			}
		})
	}
}

// madeUpFleet starts a Prometheus with the series of a fleet, which scrapes nothing.
func madeUpFleet(b *testing.B, at time.Time) prometheus.Server {
	b.Helper()
	dir, text := b.TempDir(), filepath.Join(b.TempDir(), "fleet.txt")
	writeFleet(b, text, at)
	if out, ok := run(b, "tsdb", "create-blocks-from", "openmetrics", text, filepath.Join(dir, "data")); !ok {
		b.Fatal(out)
	}
	server := prometheus.Server{Address: unused.Address(b)}
	command, err := server.Command(b.Context(), dir, "{}")
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = command.Wait() }) // It fails, because the context has ended.
	if err := server.AwaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	return server
}

// writeFleet writes the series that the fleet dashboard queries, in Prometheus' text format with times.
func writeFleet(b *testing.B, path string, at time.Time) {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	series := func(since time.Duration, growth int, format string, values ...any) {
		labels := fmt.Sprintf(format, values...)
		for n, t := 0, at.Add(-since); !t.After(at); n, t = n+1, t.Add(betweenReads) {
			fmt.Fprintf(out, "%s %d %d\n", labels, 1+n*growth, t.Unix())
		}
	}
	for _, name := range []string{"memcacheds", "updates_pending", "updates_in_progress", "updates_failed"} {
		series(shown, 0, `memcached_operator_%s{cluster="one",reason="PodsNotReady"}`, name)
	}
	for _, name := range []string{"up", "memcached_up", "memcached_agent_build_info"} {
		ofEachPod(func(pod string, _ int) { series(shown, 0, `%s{%s,ring="one",version="0.1.0"}`, name, pod) })
	}
	ofEachPod(func(pod string, n int) {
		for _, command := range []string{"get", "set", "delete", "incr", "touch"} {
			for share, status := range []string{"hit", "miss"} {
				series(counted, 100+n*(2-share), `memcached_commands_total{%s,command=%q,status=%q}`, pod, command, status)
			}
		}
	})
	for _, name := range []string{"memcached_slab_items_evicted_time_seconds", "memcached_slab_items_evicted_total"} {
		ofEachPod(func(pod string, n int) {
			for slab := range slabClasses {
				series(counted, n+slab, `%s{%s,slab="%d"}`, name, pod, slab+1)
			}
		})
	}
	fmt.Fprintln(out, "# EOF")
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
}

// ofEachPod calls do with the labels of each Pod, and the number of its cache.
func ofEachPod(do func(labels string, cache int)) {
	for cache := range caches {
		for pod := range podsOfCache {
			do(fmt.Sprintf(`cluster="one",namespace="team-%d",memcached="cache-%d",pod="cache-%d-%d"`,
				cache%50, cache, cache, pod), cache)
		}
	}
}
