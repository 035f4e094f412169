package scenarios

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/internal/testing/statistics"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// bounded is the number of Memcacheds at which the operator's memory has a bound.
const bounded = 500

// growing is a growing cluster, and its operator.
type growing struct {
	*Bench
	env      *environment.Environment
	operator *environment.Operator

	size     int // number of Memcacheds
	memory   []monitor.Memory
	requests float64 // per Memcached, for the Memcacheds that were created last
	figures  []report.Figure
	changes  [2][]float64 // milliseconds per change, with few Memcacheds and with all
}

// large does the same as growth, with the numbers of Memcacheds in Large.
func (b *Bench) large(ctx context.Context) ([]report.Figure, error) {
	large := *b
	large.Sizes = b.Large
	return large.grown(ctx, "large")
}

func (b *Bench) growth(ctx context.Context) ([]report.Figure, error) { return b.grown(ctx, "growth") }

// grown measures the operator in a cluster with the real workload controllers and scheduler, with more and more
// Memcacheds, for the scenario with this name.
func (b *Bench) grown(ctx context.Context, scenario string) (_ []report.Figure, err error) {
	folders, err := b.folders(scenario)
	if err != nil {
		return nil, err
	}
	b.update("a cluster of simulated Nodes starts")
	pods := slices.Max(b.Sizes) * environment.Size
	g := &growing{Bench: b}
	if g.env, err = environment.Simulated(ctx, folders, pods+pods/10); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.env.Close()) }()
	for _, step := range []func(context.Context) error{g.grow, g.rest, g.restart, g.resync} {
		if err := step(ctx); err != nil {
			return g.figures, err
		}
	}
	return g.figures, nil
}

// grow creates Memcacheds until their number is each of the sizes, and then reads the operator's memory.
func (g *growing) grow(ctx context.Context) (err error) {
	if g.operator, err = g.env.StartOperator(ctx); err != nil {
		return err
	}
	for i, size := range g.Sizes {
		if err := g.growTo(ctx, size); err != nil {
			return err
		}
		if i == 0 {
			if g.changes[0], err = g.change(ctx, environment.Size-1); err != nil {
				return err
			}
		}
	}
	if g.changes[1], err = g.change(ctx, environment.Size+1); err != nil {
		return err
	}
	g.figures = slices.Concat(g.figures, g.memoryFigures(), g.changeFigures())
	if g.Profiles == "" {
		return nil
	}
	return g.operator.Profile(ctx, "heap?gc=1", filepath.Join(g.Profiles, fmt.Sprintf("heap-%d.pprof", g.size)))
}

func (g *growing) growTo(ctx context.Context, size int) error {
	offset, err := g.env.Audit.End()
	if err != nil {
		return err
	}
	created := size - g.size
	if err := g.env.CreateMemcacheds(ctx, g.size, size, g.update); err != nil {
		return err
	}
	g.size = size
	if err := g.awaitReady(ctx); err != nil {
		return err
	}
	if err := g.operator.Settle(ctx, timeout); err != nil {
		return err
	}
	memory, err := g.operator.ReadMemory(ctx)
	if err != nil {
		return err
	}
	requests, err := requestsSince(g.env, offset, "list")
	g.memory, g.requests = append(g.memory, memory), float64(len(requests))/float64(created)
	if size == bounded {
		g.figures = append(g.figures, report.AtMost(45, "MiB", fmt.Sprintf("%d Memcacheds: peak resident memory", size),
			memory.Peak/mebibyte))
	}
	return err
}

// readyTimeout is how long the Memcacheds may take to become ready. It is enough for 10,000 Memcacheds on two cores.
const readyTimeout = time.Hour

func (g *growing) awaitReady(ctx context.Context) error {
	last := time.Time{}
	return g.operator.Await(ctx, readyTimeout, func(m monitor.Metrics) bool {
		ready := int(m.Sum("memcached_operator_memcacheds", cachev1.ReasonAllPodsReady))
		if time.Since(last) > time.Second {
			g.updatef("%d of %d Memcacheds are ready", ready, g.size)
			last = time.Now()
		}
		return ready == g.size
	})
}

// change changes sizes one by one, and waits each time until all Memcacheds are ready. It changes each Memcached first
// to the given size, and in later rounds to one more and back. It returns the milliseconds from each change until the
// operator's write of the Deployment.
func (g *growing) change(ctx context.Context, first int) (times []float64, err error) {
	for i := range g.Changes {
		g.updatef("change %d of %d among %d", i+1, g.Changes, g.size)
		which, size := i*max(g.size/g.Changes, 1)%g.size, first+i/g.size%2
		took, err := timeToWrite(ctx, g.env, which, func() error {
			return g.env.Patch(ctx, environment.Memcached, which, fmt.Sprintf(`{"spec":{"size":%d}}`, size))
		}, environment.Memcached.Resource, "deployments")
		if err != nil {
			return nil, err
		}
		times = append(times, took)
		if err := g.awaitReady(ctx); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// memoryFigures returns the figures that compare the heap at each number of Memcacheds with a straight line.
func (g *growing) memoryFigures() []report.Figure {
	if len(g.memory) < 3 { // A line through two points is always straight.
		return nil
	}
	var sizes, heaps []float64
	var each []report.Figure
	for i, memory := range g.memory {
		heap := memory.Heap / mebibyte
		sizes, heaps = append(sizes, float64(g.Sizes[i])), append(heaps, heap)
		each = append(each, report.Unjudged(fmt.Sprintf("%d Memcacheds: heap", g.Sizes[i]), heap, "MiB",
			fmt.Sprintf("resident %s MiB", report.Number(memory.Resident/mebibyte))))
	}
	line := statistics.Fit(sizes, heaps)
	return append([]report.Figure{
		report.Unjudged("requests per new Memcached until its Pods are ready, without events", g.requests, ""),
		report.AtMost(25, "KiB", "heap per Memcached with its objects and Pods", line.Slope*mebibyte/kibibyte,
			fmt.Sprintf("and %s MiB without any", report.Number(line.Start))),
		report.AtMost(10, "%", "heap, largest distance from a straight line", line.Off*100),
	}, each...)
}

func (g *growing) changeFigures() []report.Figure {
	few, many := statistics.Median(g.changes[0]), statistics.Median(g.changes[1])
	return []report.Figure{
		report.AtMost(10, "ms",
			fmt.Sprintf("one spec change among %d Memcacheds: time until it is applied, p50", g.size), many,
			fmt.Sprintf("p99 %s ms", report.Number(statistics.Percentile(g.changes[1], 99)))),
		report.AtMost(1.5, "times", fmt.Sprintf("the same, against one among %d", g.Sizes[0]), many/few,
			report.Number(few)+" ms"),
	}
}
