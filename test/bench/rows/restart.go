package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// restart starts the operator anew where all is as it should be, in turn with a program that lists the same objects.
func (g *grown) restart(ctx context.Context) error {
	var ratios, caughtUp, lists []float64
	mark, err := g.lab.Audit.Now()
	if err != nil {
		return err
	}
	for run := range g.Runs {
		g.update(fmt.Sprintf("restart %d of %d among %d", run+1, g.Runs, g.size))
		list, err := g.list(ctx)
		if err != nil {
			return err
		}
		start, err := g.catchUp(ctx)
		if err := errors.Join(err, g.operator.Stop()); err != nil {
			return err
		}
		caughtUp, lists, ratios = append(caughtUp, start), append(lists, list), append(ratios, start/list)
	}
	requests, err := askedSince(g.lab, mark)
	if err != nil {
		return err
	}
	asked := requests.withoutLists()
	g.figures = append(g.figures,
		report.Judge(fmt.Sprintf("restart with %d: start to caught up, against listing the same", g.size),
			report.Median(ratios), report.AtMost(1.5, "times"),
			fmt.Sprintf("%s s against %s s", report.Number(report.Median(caughtUp)), report.Number(report.Median(lists)))),
		report.Judge(fmt.Sprintf("%d restarts with %d: requests but the first lists", g.Runs, g.size),
			float64(len(asked)), report.AtMost(0, ""), asked.first()...))
	return g.resync(ctx)
}

// list returns the seconds that listing takes.
func (g *grown) list(ctx context.Context) (float64, error) {
	started, err := g.lab.RunFloor(ctx, "list")
	return time.Since(started).Seconds(), err
}

// catchUp starts the operator, and returns the seconds until it has looked at every Memcached. Those that it takes to
// lead are among them.
func (g *grown) catchUp(ctx context.Context, flags ...string) (seconds float64, err error) {
	if g.operator, err = g.lab.StartOperator(ctx, flags...); err != nil {
		return 0, err
	}
	profiled := profileCPU(ctx, g.operator, g.Profiles, fmt.Sprintf("cpu-restart-%d.pprof", g.size))
	err = g.operator.Await(ctx, patience, func(m lab.Metrics) bool { return int(m.Passes()) >= g.size && !m.Busy() })
	seconds = time.Since(g.operator.Started).Seconds()
	return seconds, errors.Join(err, <-profiled)
}

// resync waits until the operator has looked at every Memcached once more although nothing told of a change. The first
// resync comes after up to two periods.
func (g *grown) resync(ctx context.Context) error {
	g.update(fmt.Sprintf("a resync of %d", g.size))
	mark, err := g.lab.Audit.Now()
	if err != nil {
		return err
	}
	if _, err := g.catchUp(ctx, "--sync-period="+g.Resync.String()); err != nil {
		return errors.Join(err, g.operator.Stop())
	}
	err = g.operator.Await(ctx, patience, func(m lab.Metrics) bool { return int(m.Passes()) >= 2*g.size && !m.Busy() })
	if err := errors.Join(err, g.operator.Stop()); err != nil {
		return err
	}
	all, err := askedSince(g.lab, mark)
	asked := all.withoutLists()
	g.figures = append(g.figures, report.Judge(fmt.Sprintf("a resync of %d: requests", g.size),
		float64(len(asked)), report.AtMost(0, ""), asked.first()...))
	return err
}
