package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
)

// rest counts requests while nothing changes.
func (g *growing) rest(ctx context.Context) error {
	if err := g.operator.Settle(ctx, timeout); err != nil {
		return err
	}
	g.updatef("%s at rest", g.Rest)
	offset, err := g.env.Audit.End()
	if err != nil {
		return err
	}
	select {
	case <-time.After(g.Rest):
	case <-ctx.Done():
		return ctx.Err()
	}
	requests, err := requestsSince(g.env, offset)
	name := fmt.Sprintf("%d Memcacheds at rest for %s: requests", g.size, g.Rest)
	g.figures = append(g.figures, noRequests(name, requests))
	return errors.Join(err, g.operator.Stop())
}

// restart starts the operator again and again without any change. Before each start, it runs the baseline, which lists
// the same objects.
func (g *growing) restart(ctx context.Context) error {
	var compared comparison
	offset, err := g.env.Audit.End()
	if err != nil {
		return err
	}
	for run := range g.Runs {
		g.updatef("restart %d of %d among %d", run+1, g.Runs, g.size)
		list, err := costOf(func() (time.Duration, error) { return g.env.List(ctx) })
		if err != nil {
			return err
		}
		start, err := costOf(func() (time.Duration, error) { return g.catchUp(ctx) })
		if err := errors.Join(err, g.operator.Stop()); err != nil {
			return err
		}
		compared.add(start, list)
	}
	requests, err := requestsSince(g.env, offset, "list")
	name := fmt.Sprintf("restart with %d Memcacheds: time until all are reconciled, against listing them", g.size)
	g.figures = append(append(g.figures, compared.figures(name)...),
		noRequests(fmt.Sprintf("%d restarts with %d Memcacheds: requests after the first lists", g.Runs, g.size), requests))
	return err
}

// catchUp starts the operator, and returns the time until it has reconciled every Memcached, its election included.
func (g *growing) catchUp(ctx context.Context, flags ...string) (took time.Duration, err error) {
	if g.operator, err = g.env.StartOperator(ctx, flags...); err != nil {
		return 0, err
	}
	profiled := g.profileCPU(ctx, g.operator, fmt.Sprintf("cpu-restart-%d.pprof", g.size))
	err = g.awaitReconciled(ctx, g.size)
	took = time.Since(g.operator.Started)
	return took, errors.Join(err, <-profiled)
}

func (g *growing) awaitReconciled(ctx context.Context, count int) error {
	return g.operator.Await(ctx, timeout, func(m monitor.Metrics) bool {
		return int(m.Reconciled()) >= count && !m.Busy()
	})
}

// resync counts requests until the operator has reconciled every Memcached once more without any change. The first
// resync begins after at most two --sync-periods.
func (g *growing) resync(ctx context.Context) error {
	g.updatef("a resync of %d", g.size)
	offset, err := g.env.Audit.End()
	if err != nil {
		return err
	}
	_, err = g.catchUp(ctx, "--sync-period="+g.Resync.String())
	if err == nil {
		err = g.awaitReconciled(ctx, 2*g.size)
	}
	if err := errors.Join(err, g.operator.Stop()); err != nil {
		return err
	}
	requests, err := requestsSince(g.env, offset, "list")
	g.figures = append(g.figures, noRequests(fmt.Sprintf("a resync of %d Memcacheds: requests", g.size), requests))
	return err
}
