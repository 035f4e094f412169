package actions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/proxy"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// failing are requests of the operator that fail.
type failing struct {
	Requests string `json:"requests"` // a class of the proxy
	Skip     int    `json:"skip"`     // that succeed before
	Times    int    `json:"times"`

	// CarriedOut means that the API server carries the request out, and the operator does not learn that.
	CarriedOut bool `json:"carriedOut"`

	Answer     string          `json:"answer"`
	RetryAfter int             `json:"retryAfter,omitempty"` // seconds, a header of the answer
	For        metav1.Duration `json:"for,omitzero"`         // how long it hangs, or is slow; 0 hangs until the end
}

// answers by their names in a plan. Those with a code are the API server's errors.
var answers = []struct {
	name string
	code int
	late bool // lasts a drawn time

	// passed are those of requests that the API server carries out anyway.
	passed bool
}{
	{name: "conflict", code: http.StatusConflict},
	{name: "too many requests", code: http.StatusTooManyRequests},
	{name: "internal error", code: http.StatusInternalServerError},
	{name: "unavailable", code: http.StatusServiceUnavailable},
	{name: "timeout", code: http.StatusGatewayTimeout},
	{name: "cut"},
	{name: "cut after half of the body", passed: true},
	{name: "hang", late: true},
	{name: "hang until the end"},
	{name: "slow", late: true, passed: true},
	{name: "slow body", late: true, passed: true},
}

const (
	mostSkipped       = 4
	mostFailing       = 5
	longestAnswer     = 5 * time.Second
	longestRetryAfter = 2
)

func requests() []Action {
	return []Action{
		{plan.Action{Name: "requests fail", Weight: 14, Draw: drawFailing}, failRequests},
	}
}

func drawFailing(r *rand.Rand) any {
	classes := proxy.Classes()
	answer := answers[r.IntN(len(answers))]
	f := failing{
		Requests: classes[r.IntN(len(classes))].Name, Skip: r.IntN(mostSkipped), Times: 1 + r.IntN(mostFailing),
		Answer: answer.name,
	}
	f.CarriedOut = r.IntN(2) == 0 && !answer.passed
	if answer.late {
		f.For = upTo(r, longestAnswer)
	}
	if answer.code == http.StatusTooManyRequests || answer.code == http.StatusServiceUnavailable {
		f.RetryAfter = r.IntN(longestRetryAfter + 1)
	}
	return f
}

func failRequests(_ context.Context, w *world.World, step plan.Step) error {
	f, err := arguments[failing](step)
	if err != nil {
		return err
	}
	fault, err := f.fault()
	if err != nil {
		return err
	}
	if f.CarriedOut {
		fault = proxy.CarriedOut(fault)
	}
	inject(w, &proxy.Rule{Matches: f.matches(), Skip: f.Skip, Times: f.Times, Fault: fault})
	return nil
}

// matches leaves out what the API server never does: to answer a read with a conflict.
func (f failing) matches() func(proxy.Request) bool {
	named := proxy.Named(f.Requests)
	return func(r proxy.Request) bool { return named(r) && (r.Writes() || f.Answer != answers[0].name) }
}

func (f failing) fault() (proxy.Fault, error) {
	switch f.Answer {
	case "cut":
		return proxy.Cut(), nil
	case "cut after half of the body":
		return proxy.Half(), nil
	case "hang":
		return proxy.Hang(f.For.Duration), nil
	case "hang until the end":
		return proxy.Hang(0), nil
	case "slow":
		return proxy.Slow(f.For.Duration), nil
	case "slow body":
		return proxy.Trickle(f.For.Duration), nil
	}
	for _, answer := range answers {
		if answer.name == f.Answer {
			return proxy.Refuse(answer.code, f.RetryAfter), nil
		}
	}
	return nil, fmt.Errorf("no answer %q: the plan is from another commit", f.Answer)
}
