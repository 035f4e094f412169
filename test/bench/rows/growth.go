package rows

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// small is how many Memcacheds a cluster has whose operator is to be small.
const small = 500

// grown is a cluster that grows, and its operator.
type grown struct {
	*Bench
	lab      *lab.Lab
	operator *lab.Operator
	update   func(string)

	size     int // Memcacheds that there are
	memory   []lab.Memory
	requests float64 // a Memcached of those that were made last
	figures  []report.Figure
	changes  [2][]time.Duration // to applied, among few and among all
}

// growth measures the operator in a cluster with the real workload controllers and scheduler, as it gets more and more
// Memcacheds.
func growth(ctx context.Context, b *Bench, update func(string)) (_ []report.Figure, err error) {
	dir, err := b.newDir("growth")
	if err != nil {
		return nil, err
	}
	g := &grown{Bench: b, update: update}
	update("a cluster of simulated nodes comes up")
	most := slices.Max(b.Sizes) * nodes
	if g.lab, err = lab.Simulated(ctx, b.Tree, dir, b.Programs, most+most/10); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.lab.Close()) }()
	for _, step := range []func(context.Context) error{g.grow, g.rest, g.restart} {
		if err := step(ctx); err != nil {
			return g.figures, err
		}
	}
	return g.figures, nil
}

// grow makes Memcacheds up to each of the sizes, and looks at the operator's memory there.
func (g *grown) grow(ctx context.Context) (err error) {
	if g.operator, err = g.lab.StartOperator(ctx); err != nil {
		return err
	}
	for i, size := range g.Sizes {
		if err := g.growTo(ctx, size); err != nil {
			return err
		}
		if i == 0 {
			if g.changes[0], err = g.change(ctx, nodes-1); err != nil {
				return err
			}
		}
	}
	if g.changes[1], err = g.change(ctx, nodes+1); err != nil {
		return err
	}
	g.figures = append(g.figures, g.memoryFigures()...)
	g.figures = append(g.figures, g.changeFigures()...)
	if g.Profiles == "" {
		return nil
	}
	return profile(ctx, g.operator, "heap?gc=1", filepath.Join(g.Profiles, fmt.Sprintf("heap-%d.pprof", g.size)))
}

func (g *grown) growTo(ctx context.Context, size int) error {
	mark, err := g.lab.Audit.Now()
	if err != nil {
		return err
	}
	made := size - g.size
	if err := g.lab.MakeMemcacheds(ctx, g.size, size, nodes, g.update); err != nil {
		return err
	}
	g.size = size
	g.update(fmt.Sprintf("%d Memcacheds come up", size))
	if err := g.awaitReady(ctx); err != nil {
		return err
	}
	if err := g.operator.Settle(ctx, patience); err != nil {
		return err
	}
	memory, err := g.operator.Memory(ctx)
	if err != nil {
		return err
	}
	requests, err := askedSince(g.lab, mark)
	if err != nil {
		return err
	}
	g.memory, g.requests = append(g.memory, memory), float64(len(requests.withoutLists()))/float64(made)
	if size == small {
		g.figures = append(g.figures, report.Judge(fmt.Sprintf("%d Memcacheds: most memory resident", size),
			memory.Peak/mebibyte, report.AtMost(45, "MiB")))
	}
	return nil
}

// growPatience is how long ten thousand Memcacheds may take to come up on two cores.
const growPatience = time.Hour

func (g *grown) awaitReady(ctx context.Context) error {
	last := time.Time{}
	return g.operator.Await(ctx, growPatience, func(m lab.Metrics) bool {
		ready := int(m.Sum("memcached_operator_memcacheds", "reason", cachev1.ReasonAllPodsReady))
		if time.Since(last) > time.Second {
			g.update(fmt.Sprintf("%d of %d Memcacheds are ready", ready, g.size))
			last = time.Now()
		}
		return ready == g.size
	})
}

// change changes sizes one after another, and waits each time until the cluster has calmed down. The first time, a
// Memcached gets the size given, and then one more and back by turns. It returns the times from the API server's answer
// to the change until its answer to the operator's write of the Deployment.
func (g *grown) change(ctx context.Context, first int) (times []time.Duration, err error) {
	for i := range g.Changes {
		g.update(fmt.Sprintf("change %d of %d among %d", i+1, g.Changes, g.size))
		which := i * max(g.size/g.Changes, 1) % g.size
		size := first + i/g.size%2
		mark, err := g.lab.Audit.Now()
		if err != nil {
			return nil, err
		}
		if err := patch(ctx, g.lab, &cachev1.Memcached{}, which, fmt.Sprintf(`{"spec":{"size":%d}}`, size)); err != nil {
			return nil, err
		}
		took, err := answered(ctx, g.lab, mark, "memcacheds", "deployments", lab.Name(which))
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

// rest lets nothing happen for a while.
func (g *grown) rest(ctx context.Context) error {
	if err := g.operator.Settle(ctx, patience); err != nil {
		return err
	}
	g.update(fmt.Sprintf("%s at rest", g.Rest))
	mark, err := g.lab.Audit.Now()
	if err != nil {
		return err
	}
	select {
	case <-time.After(g.Rest):
	case <-ctx.Done():
		return ctx.Err()
	}
	requests, err := askedSince(g.lab, mark)
	name := fmt.Sprintf("%d Memcacheds at rest for %s: requests", g.size, g.Rest)
	g.figures = append(g.figures, report.Judge(name, float64(len(requests)), report.AtMost(0, ""), requests.first()...))
	return errors.Join(err, g.operator.Stop())
}
