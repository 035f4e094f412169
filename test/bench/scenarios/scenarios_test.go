package scenarios

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// TestScenariosMeasure measures so little that the times are of no use. The numbers of requests do not depend on how fast
// a machine is, so they must reach their bounds.
func TestScenariosMeasure(t *testing.T) {
	log.SetLogger(logr.Discard())
	tree, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	folders := environment.Folders{Tree: tree, Programs: t.TempDir()}
	if err := folders.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		figures int
		exact   []string
	}{
		"create": {4, []string{"requests per new Memcached, without events", "refused requests among them"}},
		"drift":  {3, []string{"requests after 16 annotations and labels by other clients"}},
		"growth": {12, []string{
			"3 Memcacheds at rest for 1s: requests", "1 restarts with 3: requests after the first lists",
			"a resync of 3: requests",
		}},
		"pure": {6, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Bench{
				Folders: folders, Runs: 1, Count: 3, InFlight: []int{2}, Drifts: 8, Sizes: []int{1, 2, 3}, Changes: 2,
				Rest: time.Second, Resync: 2 * time.Second, BenchTime: "1x", update: func(string) {},
			}
			b.Run = t.TempDir()
			chosen, err := Choose([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			figures, err := chosen[0].measure(&b, t.Context())
			if err != nil {
				t.Fatal(err)
			}
			verdicts := map[string]report.Verdict{}
			for _, figure := range figures {
				verdicts[figure.Name] = figure.Verdict
			}
			if len(figures) != tc.figures {
				t.Errorf("%d figures, want %d: %v", len(figures), tc.figures, verdicts)
			}
			for _, name := range tc.exact {
				if verdicts[name] != report.Reached {
					t.Errorf("%q has the verdict %q: %v", name, verdicts[name], figures)
				}
			}
		})
	}
}

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
