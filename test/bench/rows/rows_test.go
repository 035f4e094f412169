package rows

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		names, want []string
		err         string
	}{
		"all if none is named":  {nil, Names(), ""},
		"those that are named":  {[]string{"images", "create"}, []string{"images", "create"}, ""},
		"one that there is not": {[]string{"speed"}, nil, "--only speed: there is no such row; the rows are create, "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			chosen, err := Choose(tc.names)
			if (err != nil) != (tc.err != "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
				t.Fatalf("error %v, want %q", err, tc.err)
			}
			var got []string
			for _, row := range chosen {
				got = append(got, row.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func request(user, verb, resource, subresource, name string, code int) (r lab.Request) {
	r.User.Username, r.Verb, r.Response.Code = user, verb, code
	r.Object.Resource, r.Object.Subresource, r.Object.Name = resource, subresource, name
	return r
}

func TestOnlyTheFirstStatusOfAMemcachedCounts(t *testing.T) {
	seen := newStatuses()
	var got []bool
	for _, r := range []lab.Request{
		request(lab.OperatorUser, "patch", "deployments", "", "a", 200),
		request("admin", "patch", "memcacheds", "status", "a", 200),
		request(lab.OperatorUser, "patch", "memcacheds", "status", "a", 409),
		request(lab.OperatorUser, "patch", "memcacheds", "status", "a", 200),
		request(lab.OperatorUser, "patch", "memcacheds", "status", "a", 200),
		request(lab.OperatorUser, "patch", "memcacheds", "status", "b", 200),
	} {
		got = append(got, seen.note(r))
	}
	if diff := cmp.Diff([]bool{false, false, false, true, false, true}, got); diff != "" {
		t.Errorf("first statuses (-want +got):\n%s", diff)
	}
}

func TestAskedTellsAnExample(t *testing.T) {
	requests := asked{
		request(lab.OperatorUser, "list", "pods", "", "", 200), request(lab.OperatorUser, "patch", "services", "", "a", 200),
	}
	if diff := cmp.Diff([]string{"such as patch services 200"}, requests.withoutLists().first()); diff != "" {
		t.Errorf("example (-want +got):\n%s", diff)
	}
	if got := (asked{}).first(); got != nil {
		t.Errorf("an example of nothing: %v", got)
	}
}

func TestCollect(t *testing.T) {
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

func TestMemoryFigures(t *testing.T) {
	g := &grown{Bench: &Bench{Options: Options{Sizes: []int{0, 1024, 2048}}}}
	for _, heap := range []float64{8, 28, 48} { // 20 KiB each
		g.memory = append(g.memory, lab.Memory{Heap: heap * mebibyte, Resident: 2 * heap * mebibyte})
	}
	g.requests = 6.5
	want := []report.Figure{
		{
			Name: "requests a new Memcached until its nodes are ready, events apart", Measured: "6.50", Verdict: report.Told,
		},
		{
			Name: "heap a Memcached with its children and Pods", Measured: "20 KiB (and 8 MiB without any)",
			Want: "at most 25 KiB", Verdict: report.Reached,
		},
		{Name: "heap, farthest from a straight line", Measured: "0 %", Want: "at most 10 %", Verdict: report.Reached},
		{Name: "0 Memcacheds: heap", Measured: "8 MiB (resident 16 MiB)", Verdict: report.Told},
		{Name: "1024 Memcacheds: heap", Measured: "28 MiB (resident 56 MiB)", Verdict: report.Told},
		{Name: "2048 Memcacheds: heap", Measured: "48 MiB (resident 96 MiB)", Verdict: report.Told},
	}
	if diff := cmp.Diff(want, g.memoryFigures()); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

func TestChangeFigures(t *testing.T) {
	g := &grown{Bench: &Bench{Options: Options{Sizes: []int{10, 10000}}}, size: 10000}
	g.changes[0], g.changes[1] = []time.Duration{4 * time.Millisecond}, []time.Duration{7 * time.Millisecond, 9 * time.Millisecond}
	want := []report.Figure{
		{
			Name: "one spec change among 10000: change to applied, p50", Measured: "7 ms (p99 9 ms)",
			Want: "at most 10 ms", Verdict: report.Reached,
		},
		{Name: "the same, against one among 10", Measured: "1.75 times (4 ms)", Want: "at most 1.50 times", Verdict: report.Missed},
	}
	if diff := cmp.Diff(want, g.changeFigures()); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}
