package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/audit"
	"github.com/example-inc/memcached-operator/internal/testing/statistics"
	"github.com/example-inc/memcached-operator/test/bench/environment"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// drift measures the operator's response to changes by other clients: that it makes no request if they change fields
// that it does not own, and how long it takes to revert drift.
func (b *Bench) drift(ctx context.Context) (figures []report.Figure, err error) {
	env, err := b.bare(ctx, "drift")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if err := errors.Join(env.Record(ctx), env.CreateMemcacheds(ctx, 0, b.Drifts, b.update)); err != nil {
		return nil, err
	}
	operator, err := env.StartOperator(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, operator.Stop()) }()
	if err := operator.Settle(ctx, timeout); err != nil {
		return nil, err
	}
	unowned, err := b.changeUnowned(ctx, env, operator)
	if err != nil {
		return nil, err
	}
	reverted, err := b.revert(ctx, env)
	if err != nil {
		return nil, err
	}
	healed, err := b.heal(ctx, env)
	return append(append([]report.Figure{unowned}, reverted...), healed...), err
}

// changeUnowned changes metadata that the operator does not own: an annotation of each Memcached, and a label of one of
// the managed objects of each Memcached.
func (b *Bench) changeUnowned(
	ctx context.Context, env *environment.Environment, operator *environment.Operator,
) (figure report.Figure, err error) {
	offset, err := env.Audit.End()
	if err != nil {
		return figure, err
	}
	for i := range b.Drifts {
		err := errors.Join(
			env.Patch(ctx, environment.Memcached, i, `{"metadata":{"annotations":{"example.com/changed":"yes"}}}`),
			env.Patch(ctx, managed(i), i, `{"metadata":{"labels":{"example.com/changed":"yes"}}}`))
		if err != nil {
			return figure, err
		}
	}
	if err := operator.Settle(ctx, timeout); err != nil {
		return figure, err
	}
	requests, err := requestsSince(env, offset)
	return noRequests(fmt.Sprintf("requests after %d annotations and labels by other clients", 2*b.Drifts), requests), err
}

// revert deletes managed objects, or changes a field in them that the operator owns. It does so one by one, and takes
// each object from another Memcached.
func (b *Bench) revert(ctx context.Context, env *environment.Environment) ([]report.Figure, error) {
	var all, deleted, changed []float64
	for i := range b.Drifts {
		b.updatef("object %d of %d", i+1, b.Drifts)
		kind := managed(i)
		drift := func() error { return env.Patch(ctx, kind, i, kind.Drift) }
		list := &changed
		if i/len(environment.Managed)%2 == 0 {
			drift = func() error { return env.Client.Delete(ctx, kind.Of(i)) }
			list = &deleted
		}
		took, err := timeToWrite(ctx, env, i, drift, kind.Resource, kind.Resource)
		if err != nil {
			return nil, err
		}
		all, *list = append(all, took), append(*list, took)
	}
	name := fmt.Sprintf("%d managed objects deleted or changed: time to revert drift, ", b.Drifts)
	return []report.Figure{
		report.AtMost(5, "ms", name+"p50", statistics.Median(all), fmt.Sprintf("deleted %s ms; changed %s ms",
			report.Number(statistics.Median(deleted)), report.Number(statistics.Median(changed)))),
		report.AtMost(15, "ms", name+"p99", statistics.Percentile(all, 99)),
	}, nil
}

// timeToWrite makes a change to the i-th Memcached or its objects. It returns the milliseconds from the API server's
// answer to this change until the API server's answer to the operator's write for the same Memcached.
func timeToWrite(
	ctx context.Context, env *environment.Environment, i int, change func() error, changed, written string,
) (float64, error) {
	offset, err := env.Audit.End()
	if err != nil {
		return 0, err
	}
	if err := change(); err != nil {
		return 0, err
	}
	var begin, end time.Time
	key := environment.Name(i)
	err = env.Audit.Await(ctx, offset, timeout, func(r audit.Request) bool {
		switch {
		case r.ObjectRef.Name != key.Name || r.Response.Code >= 300:
		case !byOperator(r) && r.Resource() == changed:
			begin = r.Answered
		case byOperator(r) && r.Verb == "patch" && r.Resource() == written:
			end = r.Answered
		}
		return !begin.IsZero() && !end.IsZero()
	})
	if err != nil {
		return 0, fmt.Errorf("wait for the operator to write the %s of %s: %w", written, key, err)
	}
	return milliseconds(begin, end), nil
}

func managed(i int) environment.Kind { return environment.Managed[i%len(environment.Managed)] }
