package rows

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/example-inc/memcached-operator/test/bench/report"
)

// budget is what a benchmark of the operator's packages may take.
type budget struct {
	benchmark, what     string
	nanoseconds, allocs float64
}

// budgets are a pass's own work: where nothing is to be done, four comparisons and one rendering are all of it.
var budgets = []budget{
	{"BenchmarkCoverOneDeployment", "compare at rest, one Deployment", 25_000, 10},
	{"BenchmarkCompareOneDeploymentAtRest", "the same, rendered and stamped before", 150_000, 400},
	{"BenchmarkPlanAndRender", "plan and render all children", 100_000, 400},
}

// pure runs the benchmarks of the steps that ask for nothing.
func pure(ctx context.Context, b *Bench, update func(string)) (figures []report.Figure, err error) {
	measured := map[string]*measurements{}
	for run := range b.Runs {
		update(fmt.Sprintf("run %d of %d", run+1, b.Runs))
		bench := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=.", "-benchmem", "-benchtime="+b.Pure,
			"./operator/internal/apply", "./operator/internal/render")
		bench.Dir = b.Tree
		out, err := bench.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", bench, err, out)
		}
		collect(measured, string(out))
	}
	for _, b := range budgets {
		found, ok := measured[b.benchmark]
		if !ok {
			return figures, fmt.Errorf("there is no benchmark %s any more", b.benchmark)
		}
		figures = append(figures,
			report.Judge(b.what+", time", report.Median(found.nanoseconds)/1000, report.AtMost(b.nanoseconds/1000, "µs")),
			report.Judge(b.what+", allocations", report.Median(found.allocs), report.AtMost(b.allocs, "")))
	}
	return figures, nil
}

// measurements are those of one benchmark.
type measurements struct{ nanoseconds, allocs []float64 }

// collect adds what `go test -bench -benchmem` wrote, by names without the number of cores.
func collect(measured map[string]*measurements, output string) {
	for line := range strings.Lines(output) {
		name, rest, _ := strings.Cut(line, "\t")
		name, _, _ = strings.Cut(strings.TrimSpace(name), "-")
		var loops, nanoseconds, bytes, allocs float64
		_, err := fmt.Sscanf(rest, "%f %f ns/op %f B/op %f allocs/op", &loops, &nanoseconds, &bytes, &allocs)
		if err != nil {
			continue // It tells of something else.
		}
		if measured[name] == nil {
			measured[name] = &measurements{}
		}
		found := measured[name]
		found.nanoseconds, found.allocs = append(found.nanoseconds, nanoseconds), append(found.allocs, allocs)
	}
}
