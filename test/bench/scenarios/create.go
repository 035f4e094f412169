package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// creation compares the operator with the baseline.
type creation struct {
	*Bench
	env *environment.Environment

	// These are the sums of all runs of the operator.
	memcacheds, requests, refused, events int
}

// program starts the operator or the baseline. It returns the time of the start, and a function that waits for the end
// of the program. The caller calls finish when all Memcacheds have a status.
type program func(ctx context.Context, inFlight int) (started time.Time, finish func() error, err error)

// create measures the time from the start of the operator until all objects of new Memcacheds exist and the status of
// each Memcached is written. No other controller runs.
func (b *Bench) create(ctx context.Context) (figures []report.Figure, err error) {
	env, err := b.bare(ctx, "create")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if err := env.Record(ctx); err != nil {
		return nil, err
	}
	profiles := b.Profiles
	b.Profiles = "" // Profiling slows a run, so the measured runs have none.
	c := &creation{Bench: b, env: env}
	for _, inFlight := range b.InFlight {
		compared, err := c.compare(ctx, inFlight)
		if err != nil {
			return figures, err
		}
		figures = append(figures, compared...)
	}
	figures = append(figures, c.requestFigures()...)
	if profiles != "" {
		b.update("profiles")
		b.Profiles = profiles
		_, err = c.measure(ctx, c.operator, b.InFlight[len(b.InFlight)-1])
	}
	return figures, err
}

// compare measures the operator and the baseline alternately.
func (c *creation) compare(ctx context.Context, inFlight int) ([]report.Figure, error) {
	var compared comparison
	for run := range c.Runs {
		c.updatef("%d in flight, run %d of %d", inFlight, run+1, c.Runs)
		operator, err := c.measure(ctx, c.operator, inFlight)
		if err != nil {
			return nil, err
		}
		baseline, err := c.measure(ctx, c.baseline, inFlight)
		if err != nil {
			return nil, err
		}
		compared.add(operator, baseline)
	}
	name := fmt.Sprintf("%d new Memcacheds, %d in flight: time against the baseline", c.Count, inFlight)
	return compared.figures(name), nil
}

// measure creates Memcacheds and runs a program. The time in the cost is from the program's start until the API
// server's answer to the first status of the last Memcached.
func (c *creation) measure(ctx context.Context, run program, inFlight int) (cost, error) {
	if err := c.env.CreateMemcacheds(ctx, 0, c.Count, func(string) {}); err != nil {
		return cost{}, err
	}
	offset, err := c.env.Audit.End()
	if err != nil {
		return cost{}, err
	}
	finish := func() error { return nil }
	took, err := costOf(func() (time.Duration, error) {
		started, stop, err := run(ctx, inFlight)
		if err != nil {
			return 0, err
		}
		finish = stop
		last, err := c.awaitStatuses(ctx, offset)
		return last.Sub(started), err
	})
	return took, errors.Join(err, finish(), c.env.Empty(ctx))
}

// awaitStatuses returns when the API server answered the first status of the last Memcached.
func (c *creation) awaitStatuses(ctx context.Context, offset int64) (last time.Time, err error) {
	done := map[string]bool{}
	err = c.env.Audit.Await(ctx, offset, timeout, func(r audit.Request) bool {
		if writesStatus(r) && !done[r.ObjectRef.Name] {
			done[r.ObjectRef.Name], last = true, r.Answered
		}
		return len(done) == c.Count
	})
	if err != nil {
		err = fmt.Errorf("%d of %d Memcacheds have a status: %w", len(done), c.Count, err)
	}
	return last, err
}

func writesStatus(r audit.Request) bool {
	return byOperator(r) && r.Resource() == "memcacheds/status" && r.Response.Code < 300
}

func (c *creation) operator(ctx context.Context, inFlight int) (time.Time, func() error, error) {
	offset, err := c.env.Audit.End()
	if err != nil {
		return time.Time{}, nil, err
	}
	operator, err := c.env.StartOperator(ctx, fmt.Sprintf("--max-concurrent-reconciles=%d", inFlight))
	if err != nil {
		return time.Time{}, nil, err
	}
	profiled := c.profileCPU(ctx, operator, fmt.Sprintf("cpu-create-%d.pprof", c.Count))
	return operator.Started, func() error {
		err := operator.Settle(ctx, timeout) // It may still send requests after the last first status.
		return errors.Join(err, <-profiled, operator.Stop(), c.count(offset))
	}, nil
}

func (c *creation) baseline(ctx context.Context, inFlight int) (time.Time, func() error, error) {
	started, err := c.env.CreateByBaseline(ctx, inFlight)
	return started, func() error { return nil }, err
}

// count adds the operator's requests and events to the sums. It omits the requests of the first lists.
func (c *creation) count(offset int64) error {
	all, _, err := c.env.Audit.Read(offset)
	for _, r := range all {
		switch {
		case !byOperator(r):
		case r.ObjectRef.Resource == "events":
			c.events++
		case !isBackground(r) && r.Verb != "list":
			c.requests++
			if r.Response.Code >= 400 {
				c.refused++
			}
		}
	}
	c.memcacheds += c.Count
	return err
}

func (c *creation) requestFigures() []report.Figure {
	each, managed := float64(c.memcacheds), len(environment.Managed)
	return []report.Figure{
		report.AtMost(float64(managed+2), "", "requests per new Memcached, without events", float64(c.requests)/each,
			fmt.Sprintf("%d managed objects", managed)),
		report.Unjudged("events per new Memcached", float64(c.events)/each, ""),
		report.AtMost(0, "", "refused requests among them", float64(c.refused)),
	}
}
