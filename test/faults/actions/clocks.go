package actions

import (
	"context"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/proxy"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// clock is by how much a clock is ahead of the other clocks.
type clock struct {
	Ahead metav1.Duration `json:"ahead"`
	For   metav1.Duration `json:"for"`
}

const (
	longestAhead     = 30 * time.Minute
	longestWithClock = 10 * time.Second
)

func clocks() []Action {
	return []Action{
		{plan.Action{Name: "the operator's clock jumps", Weight: 4, Draw: drawClock}, given(jump)},
		{plan.Action{Name: "the API server's clock differs", Weight: 2, Draw: drawClock}, given(differ)},
	}
}

func drawClock(r *rand.Rand) any {
	ahead := upTo(r, longestAhead)
	ahead.Duration = max(ahead.Round(time.Second), time.Minute)
	if r.IntN(2) == 0 {
		ahead.Duration = -ahead.Duration
	}
	return clock{ahead, upTo(r, longestWithClock)}
}

// jump moves the clock of the operator's process, and moves it back after a while.
func jump(ctx context.Context, w *world.World, _ plan.Step, c clock) error {
	operator := w.First()
	if err := operator.StepClock(c.Ahead.Duration); err != nil {
		return err
	}
	world.HadEffect(ctx)
	w.During(c.For.Duration, func() { _ = operator.StepClock(0) })
	return nil
}

// differ makes the API server's clock differ for the operator, by changing the dates of the API server's answers.
func differ(ctx context.Context, w *world.World, _ plan.Step, c clock) error {
	operator := w.First()
	all := func(proxy.Request) bool { return true }
	rule := &proxy.Rule{Matches: all, Fault: noted(ctx, proxy.Dated(c.Ahead.Duration))}
	operator.Add(rule)
	w.During(c.For.Duration, func() { operator.Remove(rule) })
	return nil
}
