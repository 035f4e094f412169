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

// healing has the times until a deleted object exists again, and the times of other requests to compare them with, in
// milliseconds.
type healing struct {
	env     *environment.Environment
	creator *environment.Creator

	healed  []float64 // from the answer to the deletion until the answer to the operator's request
	reacted []float64 // the part of healed until the API server has the operator's request
	served  []float64 // the rest of healed: the time of the request itself
	applied []float64 // the same request for another object
	posted  []float64 // a POST of another object
}

// heal deletes managed objects one by one. After each deletion, it creates two similar objects itself, without the
// operator.
func (b *Bench) heal(ctx context.Context, env *environment.Environment) ([]report.Figure, error) {
	creator, err := env.NewCreator()
	if err != nil {
		return nil, err
	}
	h := &healing{env: env, creator: creator}
	for i := range b.Drifts {
		b.updatef("deleted object %d of %d", i+1, b.Drifts)
		if err := h.measure(ctx, i); err != nil {
			return nil, err
		}
	}
	return h.figures(), nil
}

func (h *healing) figures() []report.Figure {
	of := func(list []float64) string { return report.Number(statistics.Median(list)) }
	ratio := func(name string, others []float64) report.Figure {
		times := statistics.Median(h.healed) / statistics.Median(others)
		return report.AtMost(1.3, "times", name, times, against(h.healed, others, "ms"))
	}
	name := fmt.Sprintf("%d managed objects deleted: time to create them again, ", len(h.healed))
	return []report.Figure{
		report.Unjudged(name+"p50", statistics.Median(h.healed), "ms", fmt.Sprintf(
			"until the request %s ms; for the request %s ms", of(h.reacted), of(h.served))),
		report.Unjudged(name+"p99", statistics.Percentile(h.healed, 99), "ms"),
		ratio("the same, against the operator's request alone", h.applied),
		ratio("the same, against a POST of the same object", h.posted),
	}
}

// measure deletes an object of the i-th Memcached, and adds the measured times.
func (h *healing) measure(ctx context.Context, i int) error {
	kind := managed(i)
	deleted, written, err := h.deleted(ctx, kind, i)
	if err != nil {
		return err
	}
	h.healed = append(h.healed, milliseconds(deleted.Answered, written.Answered))
	h.reacted = append(h.reacted, milliseconds(deleted.Answered, written.Received))
	h.served = append(h.served, milliseconds(written.Received, written.Answered))
	applied, err := h.created(ctx, h.creator.Apply, kind, fmt.Sprintf("applied-%05d", i))
	if err != nil {
		return err
	}
	posted, err := h.created(ctx, h.creator.Post, kind, fmt.Sprintf("posted-%05d", i))
	h.applied, h.posted = append(h.applied, applied), append(h.posted, posted)
	return err
}

// deleted deletes an object of the i-th Memcached. It returns this request and the request by which the operator
// creates the object again.
func (h *healing) deleted(
	ctx context.Context, kind environment.Kind, i int,
) (deleted, written audit.Request, err error) {
	offset, err := h.env.Audit.End()
	if err := errors.Join(err, h.env.Client.Delete(ctx, kind.Of(i))); err != nil {
		return deleted, written, err
	}
	err = h.env.Audit.Await(ctx, offset, timeout, func(r audit.Request) bool {
		switch {
		case r.ObjectRef.Name != environment.Name(i).Name || r.Resource() != kind.Resource || r.Response.Code >= 300:
		case byOperator(r):
			written = r
		case r.Verb == "delete":
			deleted = r
		}
		return deleted.Verb != "" && written.Verb != ""
	})
	return deleted, written, err
}

// created creates an object without the operator, and returns how long the API server took.
func (h *healing) created(
	ctx context.Context, create func(context.Context, environment.Kind, string) error, kind environment.Kind, name string,
) (took float64, err error) {
	offset, err := h.env.Audit.End()
	if err := errors.Join(err, create(ctx, kind, name)); err != nil {
		return 0, err
	}
	err = h.env.Audit.Await(ctx, offset, timeout, func(r audit.Request) bool {
		took = milliseconds(r.Received, r.Answered)
		return !byOperator(r) && r.Resource() == kind.Resource
	})
	return took, err
}

func milliseconds(from, to time.Time) float64 { return float64(to.Sub(from).Microseconds()) / 1000 }
