package scenarios

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/example-inc/memcached-operator/internal/testing/statistics"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// benchmarks are Go benchmarks of the operator's packages, and their bounds. A reconciliation that finds no change
// consists of four comparisons and one rendering.
var benchmarks = []struct {
	name, what           string
	microseconds, allocs float64
}{
	{"BenchmarkCoverOneDeployment", "compare at rest, one Deployment", 25, 10},
	{"BenchmarkCompareOneDeploymentAtRest", "the same, rendered and stamped before", 150, 400},
	{"BenchmarkPlanAndRender", "plan and render all objects", 100, 400},
}

// pure runs the benchmarks of the steps that make no request.
func (b *Bench) pure(ctx context.Context) (figures []report.Figure, err error) {
	measured := map[string]*measurements{}
	for run := range b.Runs {
		b.updatef("run %d of %d", run+1, b.Runs)
		bench := exec.CommandContext(ctx, "go", "test", "-vet=off", "-run=^$", "-bench=.", "-benchmem",
			"-benchtime="+b.BenchTime, "./operator/internal/apply", "./operator/internal/render")
		bench.Dir = b.Tree
		out, err := bench.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", bench, err, out)
		}
		collect(measured, string(out))
	}
	for _, benchmark := range benchmarks {
		found, ok := measured[benchmark.name]
		if !ok {
			return figures, fmt.Errorf("%s does not exist", benchmark.name)
		}
		figures = append(figures,
			report.AtMost(benchmark.microseconds, "µs", benchmark.what+", time", statistics.Median(found.nanoseconds)/1000),
			report.AtMost(benchmark.allocs, "", benchmark.what+", allocations", statistics.Median(found.allocs)))
	}
	return figures, nil
}

// measurements are the values that one benchmark measured.
type measurements struct{ nanoseconds, allocs []float64 }

// collect adds the values in the output of `go test -bench -benchmem` to measured. Its keys are the names of the
// benchmarks without the number of cores.
func collect(measured map[string]*measurements, output string) {
	for line := range strings.Lines(output) {
		name, rest, _ := strings.Cut(line, "\t")
		name, _, _ = strings.Cut(strings.TrimSpace(name), "-")
		var loops, nanoseconds, bytes, allocs float64
		_, err := fmt.Sscanf(rest, "%f %f ns/op %f B/op %f allocs/op", &loops, &nanoseconds, &bytes, &allocs)
		if err != nil {
			continue // not a benchmark's line
		}
		if measured[name] == nil {
			measured[name] = &measurements{}
		}
		found := measured[name]
		found.nanoseconds, found.allocs = append(found.nanoseconds, nanoseconds), append(found.allocs, allocs)
	}
}
