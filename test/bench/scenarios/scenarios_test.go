package scenarios

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

func TestTheFiguresOfAGrowingCluster(t *testing.T) {
	g := &growing{Bench: &Bench{Sizes: []int{0, 1024, 2048}}, requests: 6.5, size: 2048}
	for _, heap := range []float64{8, 28, 48} { // 20 KiB each
		g.memory = append(g.memory, monitor.Memory{Heap: heap * mebibyte, Resident: 2 * heap * mebibyte})
	}
	g.changes = [2][]float64{{4}, {7, 9}}
	want := []report.Figure{
		report.Unjudged("requests per new Memcached until its Pods are ready, without events", 6.5, ""),
		report.AtMost(25, "KiB", "heap per Memcached with its objects and Pods", 20, "and 8 MiB without any"),
		report.AtMost(10, "%", "heap, largest distance from a straight line", 0),
		report.Unjudged("0 Memcacheds: heap", 8, "MiB", "resident 16 MiB"),
		report.Unjudged("1024 Memcacheds: heap", 28, "MiB", "resident 56 MiB"),
		report.Unjudged("2048 Memcacheds: heap", 48, "MiB", "resident 96 MiB"),
		report.AtMost(10, "ms", "one spec change among 2048 Memcacheds: time until it is applied, p50", 7, "p99 9 ms"),
		report.AtMost(1.5, "times", "the same, against one among 0", 1.75, "4 ms"),
	}
	if diff := cmp.Diff(want, append(g.memoryFigures(), g.changeFigures()...)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}
