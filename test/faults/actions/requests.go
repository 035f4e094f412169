package actions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/proxy"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// failing has the arguments of an action that makes requests of the operator fail.
type failing struct {
	Requests string `json:"requests"` // a class of the proxy
	Skip     int    `json:"skip"`     // how many of these requests succeed first
	Times    int    `json:"times"`

	// CarriedOut means that the API server carries out the request, although the operator gets an error.
	CarriedOut bool `json:"carriedOut"`

	Answer     string          `json:"answer"`
	RetryAfter int             `json:"retryAfter,omitempty"` // seconds, a header of the answer
	For        metav1.Duration `json:"for,omitzero"`         // how long it hangs, or is slow; 0 hangs until the end
}

// answer is a kind of failure of a request. Plans use its name.
type answer struct {
	name  string
	fault func(failing) proxy.Fault

	late    bool // the fault lasts a drawn time
	retried bool // the answer may say when to try again
	passed  bool // the API server carries out the request in spite of the fault
}

var answers = []answer{
	{name: conflict, fault: refused(http.StatusConflict)},
	{name: "too many requests", fault: refused(http.StatusTooManyRequests), retried: true},
	{name: "internal error", fault: refused(http.StatusInternalServerError)},
	{name: "unavailable", fault: refused(http.StatusServiceUnavailable), retried: true},
	{name: "timeout", fault: refused(http.StatusGatewayTimeout)},
	{name: "cut", fault: func(failing) proxy.Fault { return proxy.Cut() }},
	{name: "cut after half of the body", fault: func(failing) proxy.Fault { return proxy.Half() }, passed: true},
	{name: "hang", fault: func(f failing) proxy.Fault { return proxy.Hang(f.For.Duration) }, late: true},
	{name: "hang until the end", fault: func(failing) proxy.Fault { return proxy.Hang(0) }},
	{name: "slow", fault: func(f failing) proxy.Fault { return proxy.Slow(f.For.Duration) }, late: true, passed: true},
	{
		name: "slow body", fault: func(f failing) proxy.Fault { return proxy.Trickle(f.For.Duration) },
		late: true, passed: true,
	},
}

const conflict = "conflict"

// refused returns a fault that answers a request with an error of the API server.
func refused(code int) func(failing) proxy.Fault {
	return func(f failing) proxy.Fault { return proxy.Refuse(code, f.RetryAfter) }
}

const (
	mostSkipped       = 4
	mostFailing       = 5
	longestAnswer     = 5 * time.Second
	longestRetryAfter = 2
	longestWrite      = 2 * time.Second // how long to wait for the write, which not every change causes
)

func requests() []Action {
	return []Action{
		{plan.Action{Name: "requests fail", Weight: 14, Draw: drawFailing}, given(failRequests)},
		{plan.Action{Name: "the only write of a change fails", Weight: 2, Draw: drawOnlyWrite}, given(failOnlyWrite)},
	}
}

// onlyWrite is a change for which the operator writes one object once, and replaces no Pod, and how often this write
// fails. After that, only the failure itself gives the operator a reason to reconcile the cache again.
type onlyWrite struct {
	Requests string         `json:"requests"` // a class of the proxy
	Spec     map[string]any `json:"spec"`
	Times    int            `json:"times"`
}

func drawOnlyWrite(r *rand.Rand) any {
	change := one(r, []onlyWrite{
		{Requests: "poddisruptionbudgets", Spec: map[string]any{
			"disruption": map[string]any{"maxUnavailable": 1 + r.IntN(9)},
		}},
		{Requests: "networkpolicies", Spec: map[string]any{
			"networkPolicy": map[string]any{"mode": one(r, "Enabled", "Disabled")},
		}},
		{Requests: "services", Spec: map[string]any{"service": map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"example.com/change": strconv.Itoa(r.IntN(100))}},
		}}},
	}...)
	change.Times = 1 + r.IntN(2)
	return change
}

func failOnlyWrite(ctx context.Context, w *world.World, step plan.Step, f onlyWrite) error {
	named, refuse := proxy.Named(f.Requests), proxy.Refuse(http.StatusInternalServerError, 0)
	refused := make(chan struct{}, f.Times)
	inject(ctx, w, &proxy.Rule{
		Matches: func(r proxy.Request) bool { return named(r) && r.IsWrite() }, Times: f.Times,
		Fault: func(c proxy.Call) {
			refuse(c)
			refused <- struct{}{}
		},
	})
	err := editSpec(ctx, w, step.Cache, func(spec map[string]any) map[string]any { return schema.Merge(spec, f.Spec) })
	select { // Wait, because the faults may end with this step.
	case <-refused:
	case <-time.After(longestWrite):
	case <-ctx.Done():
	}
	return err
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
	if answer.retried {
		f.RetryAfter = r.IntN(longestRetryAfter + 1)
	}
	return f
}

func failRequests(ctx context.Context, w *world.World, _ plan.Step, f failing) error {
	fault, err := f.fault()
	if err != nil {
		return err
	}
	inject(ctx, w, &proxy.Rule{Matches: f.matches(), Skip: f.Skip, Times: f.Times, Fault: fault})
	return nil
}

// matches returns which requests fail. The API server never answers a read with a conflict, so a conflict matches only
// writes.
func (f failing) matches() func(proxy.Request) bool {
	named := proxy.Named(f.Requests)
	return func(r proxy.Request) bool { return named(r) && (r.Writes() || f.Answer != conflict) }
}

func (f failing) fault() (proxy.Fault, error) {
	i := slices.IndexFunc(answers, func(a answer) bool { return a.name == f.Answer })
	if i < 0 {
		return nil, fmt.Errorf("no answer %q: the plan is from another commit", f.Answer)
	}
	fault := answers[i].fault(f)
	if f.CarriedOut {
		fault = proxy.CarriedOut(fault)
	}
	return fault, nil
}
