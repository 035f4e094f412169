package scenarios

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

func TestRequestsInTheBackgroundDoNotCount(t *testing.T) {
	tests := map[string]struct {
		verb, resource string
		want           bool
	}{
		"a watch":                            {"watch", "pods", true},
		"a renewal of the Lease":             {"update", "leases", true},
		"an event":                           {"create", "events", true},
		"a question about its permissions":   {"create", "selfsubjectaccessreviews", true},
		"discovery, which names no resource": {"get", "", true},
		"a write":                            {"patch", "deployments", false},
		"a list":                             {"list", "deployments", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			request := audit.Request{Verb: tc.verb}
			request.ObjectRef.Resource = tc.resource
			if got := isBackground(request); got != tc.want {
				t.Errorf("isBackground() = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestBenchmarksAreCollectedByName(t *testing.T) {
	measured := map[string]*measurements{}
	for _, output := range []string{
		"goos: linux\nBenchmarkOne-16   \t    3472\t    397225 ns/op\t   92135 B/op\t    1447 allocs/op\nPASS\n",
		"BenchmarkOne \t 1\t 2.5 ns/op\t 0 B/op\t 0 allocs/op\nBenchmarkOther-2\t 1\t 7 ns/op\n",
	} {
		collect(measured, output)
	}
	want := map[string]*measurements{"BenchmarkOne": {nanoseconds: []float64{397225, 2.5}, allocs: []float64{1447, 0}}}
	if diff := cmp.Diff(want, measured, cmp.AllowUnexported(measurements{})); diff != "" {
		t.Errorf("measurements (-want +got):\n%s", diff)
	}
}

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
		report.AtMost(10, "ms", "one spec change among 2048: change to applied, p50", 7, "p99 9 ms"),
		report.AtMost(1.5, "times", "the same, against one among 0", 1.75, "4 ms"),
	}
	if diff := cmp.Diff(want, append(g.memoryFigures(), g.changeFigures()...)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}
