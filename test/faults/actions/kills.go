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

// outage ends or stops the operator's process for a time.
type outage struct {
	Down metav1.Duration `json:"down,omitzero"`
}

// moment is a point in time in one of the operator's next writes.
type moment struct {
	Write int    `json:"write"` // 1 is the next one
	When  string `json:"when"`  // one of Moments
}

// outageAtWrite is an outage at a write.
type outageAtWrite struct {
	moment
	outage
}

// Moments are the points in time of a write at which a fault can happen.
var Moments = []string{beforeSent, beforeAnswered, afterAnswered}

// At beforeAnswered, the API server has carried out the write, but the operator has no answer yet.
const (
	beforeSent     = "before it is sent"
	beforeAnswered = "before it is answered"
	afterAnswered  = "after it is answered"
)

const (
	longestDown = 3 * time.Second // until a new process replaces the one that ended
	longestHang = 6 * time.Second
)

// processFault is a fault of the operator's process. It returns when the fault is over, and reports whether the process
// still runs.
type processFault func(w *world.World, down time.Duration, over <-chan struct{}) (survived bool)

func kills() []Action {
	killed, terminated := crashed(world.Kill), crashed(world.Terminate)
	return []Action{
		{plan.Action{Name: "kill the operator", Weight: 2, Draw: drawDown}, immediately(killed)},
		{plan.Action{Name: KillAtWrite, Weight: 8, Draw: drawAtWrite(drawDown)}, atWrite(killed)},
		{plan.Action{Name: "terminate the operator", Weight: 1, Draw: drawDown}, immediately(terminated)},
		{plan.Action{Name: "terminate the operator at a write", Weight: 2, Draw: drawAtWrite(drawDown)}, atWrite(terminated)},
		{plan.Action{Name: "stop the operator for a time", Weight: 1, Draw: drawHang}, immediately(hung)},
		{plan.Action{Name: "stop the operator at a write", Weight: 2, Draw: drawAtWrite(drawHang)}, atWrite(hung)},
	}
}

func drawDown(r *rand.Rand) any {
	if r.IntN(2) == 0 {
		return outage{}
	}
	return outage{upTo(r, longestDown)}
}

func drawHang(r *rand.Rand) any { return outage{upTo(r, longestHang)} }

func drawAtWrite(draw func(*rand.Rand) any) func(*rand.Rand) any {
	return func(r *rand.Rand) any {
		when := one(r, Moments...)
		return outageAtWrite{moment{1 + r.IntN(6), when}, draw(r).(outage)}
	}
}

// upTo draws a time up to the longest one. Short times are more frequent.
func upTo(r *rand.Rand, longest time.Duration) metav1.Duration {
	scale := time.Duration(1 + r.IntN(100))
	return metav1.Duration{Duration: (longest * scale * scale / 10_000).Round(time.Millisecond)}
}

// KillAtWrite is the name of the action that kills the operator at a write.
const KillAtWrite = "kill the operator at a write"

func crashed(end world.Ending) processFault {
	return func(w *world.World, down time.Duration, over <-chan struct{}) bool {
		w.First().Crash(end, down, over)
		return false
	}
}

func hung(w *world.World, down time.Duration, over <-chan struct{}) bool {
	resume := w.First().Hang()
	defer resume()
	select {
	case <-time.After(down):
	case <-over:
	}
	return true
}

// immediately begins a fault without waiting for its end, so that the next steps happen during the fault.
func immediately(fault processFault) do {
	return given(func(ctx context.Context, w *world.World, _ plan.Step, o outage) error {
		world.HadEffect(ctx)
		over, done := make(chan struct{}), make(chan struct{})
		go func() {
			fault(w, o.Down.Duration, over)
			close(done)
		}()
		w.Later(func(context.Context) error {
			close(over)
			<-done
			return nil
		})
		return nil
	})
}

// atWrite waits for the write in the background, because the next steps may cause this write.
func atWrite(fault processFault) do {
	return given(func(ctx context.Context, w *world.World, _ plan.Step, at outageAtWrite) error {
		injectAtWrite(ctx, w, at.moment, func(over <-chan struct{}) bool { return fault(w, at.Down.Duration, over) })
		return nil
	})
}

// injectAtWrite calls meet, which causes a fault of the operator's process, at a moment of a write.
func injectAtWrite(
	ctx context.Context, w *world.World, at moment, meet func(over <-chan struct{}) (survived bool),
) {
	inject(ctx, w, &proxy.Rule{Matches: proxy.Request.IsWrite, Skip: at.Write - 1, Times: 1, Fault: func(c proxy.Call) {
		switch at.When {
		case beforeSent:
			if meet(c.Over) {
				c.Next.ServeHTTP(c.W, c.R)
			}
		case beforeAnswered:
			if answer := c.CarryOut(); meet(c.Over) {
				answer.SendTo(c.W)
			}
		default:
			c.CarryOut().SendTo(c.W)
			meet(c.Over)
		}
	}})
}

// inject adds a fault to requests of the regular operator. The fault is removed when all faults end.
func inject(ctx context.Context, w *world.World, rule *proxy.Rule) {
	operator := w.First()
	rule.Fault = noted(ctx, rule.Fault)
	operator.Add(rule)
	w.Later(func(context.Context) error {
		operator.Remove(rule)
		return nil
	})
}

// noted returns a fault that does the same as the given one, and records that it had an effect.
func noted(ctx context.Context, fault proxy.Fault) proxy.Fault {
	return func(c proxy.Call) {
		world.HadEffect(ctx)
		fault(c)
	}
}
