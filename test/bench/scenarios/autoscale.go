package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/monitor"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// autoscale measures the CPU time and the requests that the operator needs to observe the memory use of many caches
// that do not change.
func (b *Bench) autoscale(ctx context.Context) (figures []report.Figure, err error) {
	folders, err := b.folders("autoscale")
	if err != nil {
		return nil, err
	}
	b.update("a cluster of simulated Nodes starts")
	env, err := environment.Simulated(ctx, folders, b.Count*environment.Size*11/10)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	// No program runs in the simulated Pods, so a proxy answers the operator's requests to their agents.
	var reads atomic.Int64
	text := curve()
	agents := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reads.Add(1)
		_, _ = w.Write([]byte(text))
	}))
	defer agents.Close()
	operator, err := env.StartOperator(ctx, "--usage-proxy="+agents.URL)
	if err != nil {
		return nil, err
	}
	if err := env.CreateMemcacheds(ctx, 0, b.Count, b.update); err != nil {
		return nil, err
	}
	g := &growing{Bench: b, env: env, operator: operator, size: b.Count}
	if err := g.awaitReady(ctx); err != nil {
		return nil, err
	}
	if err := operator.Settle(ctx, timeout); err != nil {
		return nil, err
	}
	idle, _, err := g.watch(ctx, 1)
	if err != nil {
		return nil, err
	}
	for i := range b.Count {
		const spec = `{"spec":{"autoscaling":{"memory":{"max":"1Gi"}}}}`
		if err := env.Patch(ctx, environment.Memcached, i, spec); err != nil {
			return nil, err
		}
	}
	const minutes = 5
	if _, _, err := g.watch(ctx, 2); err != nil { // until all of them have a recommendation
		return nil, err
	}
	before := reads.Load()
	busy, requests, err := g.watch(ctx, minutes)
	perMinute := float64(reads.Load()-before) / float64(b.Count) / minutes
	return []report.Figure{
		noRequests(fmt.Sprintf("%d Memcacheds whose use is observed, at rest for %d min: requests to the API server",
			b.Count, minutes), requests),
		report.AtMost(1.05, "", "the same: reports read from Pods, per Memcached and minute", perMinute),
		report.AtMost(5, "%", "the same: CPU of the operator, of one core", 100*(busy-idle),
			fmt.Sprintf("and %s %% without", report.Number(100*idle))),
	}, errors.Join(err, operator.Stop())
}

// watch returns the share of a core that the operator used during the given number of minutes, and the requests that it
// made.
func (g *growing) watch(ctx context.Context, minutes int) (share float64, requests []audit.Request, err error) {
	offset, err := g.env.Audit.End()
	if err != nil {
		return 0, nil, err
	}
	before, err := g.operator.ReadMetrics(ctx)
	began := time.Now()
	for minute := range minutes {
		g.updatef("minute %d of %d at rest", minute+1, minutes)
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
	after, failure := g.operator.ReadMetrics(ctx)
	if err := errors.Join(err, failure); err != nil {
		return 0, nil, err
	}
	requests, err = requestsSince(g.env, offset)
	return (seconds(after) - seconds(before)) / time.Since(began).Seconds(), requests, err
}

func seconds(m monitor.Metrics) float64 { return m.Sum("process_cpu_seconds_total", "") }

// curve is a report of an agent, as long as a real one.
func curve() string {
	var points []string
	for age := 600; age <= 12*60*60; age += 600 {
		points = append(points, fmt.Sprintf(`{"ageSeconds":%d,"memory":%d,"hitRatio":%f}`,
			age, 20000000+1000*age, 0.5+float64(age)/100000))
	}
	return `{"observedSeconds":86400,"memory":67108864,"reads":100000,"hitRatio":0.9,"curve":[` +
		strings.Join(points, ",") + `]}`
}
