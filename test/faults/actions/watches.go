package actions

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/proxy"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// watching has the arguments of a fault of the operator's watches.
type watching struct {
	Watches string          `json:"watches"` // the resource; empty for all watches
	For     metav1.Duration `json:"for,omitzero"`
	By      metav1.Duration `json:"by,omitzero"`
	Expired bool            `json:"expired,omitempty"`
	Times   int             `json:"times,omitempty"`
}

// watched are the resources of the operator's watches. "" means all watches together, and is drawn as often as each
// resource.
var watched = []string{
	"", "memcacheds", "deployments", "services", "networkpolicies", "poddisruptionbudgets", "pods", "secrets",
	"endpointslices", "replicasets",
}

const (
	longestLate      = 3 * time.Second // for each event
	longestLateWatch = 10 * time.Second
	mostExpired      = 3
)

func watches() []Action {
	return []Action{
		{plan.Action{Name: "events of watches are late", Weight: 5, Draw: func(r *rand.Rand) any {
			return watching{Watches: drawWatch(r), For: upTo(r, longestLateWatch), By: upTo(r, longestLate)}
		}}, watchFault(func(operator *world.Operator, of watching) (end func() bool) {
			return lateness(operator, &proxy.Lateness{Matches: proxy.Watches(of.Watches), By: of.By.Duration})
		})},
		{plan.Action{Name: "watches are silent", Weight: 4, Draw: func(r *rand.Rand) any {
			return watching{Watches: drawWatch(r), For: upTo(r, longestLateWatch)}
		}}, watchFault(func(operator *world.Operator, of watching) (end func() bool) {
			return lateness(operator, &proxy.Lateness{Matches: proxy.Watches(of.Watches), Silent: true})
		})},
		{plan.Action{Name: "watches are silent, then end", Weight: 3, Draw: func(r *rand.Rand) any {
			return watching{Watches: drawWatch(r), For: upTo(r, longestLateWatch), Expired: r.IntN(2) == 0}
		}}, watchFault(func(operator *world.Operator, of watching) (end func() bool) {
			hurry := lateness(operator, &proxy.Lateness{Matches: proxy.Watches(of.Watches), Silent: true})
			return func() bool {
				ended := operator.EndWatches(proxy.Watches(of.Watches), of.Expired)
				return hurry() || ended
			}
		})},
		{plan.Action{Name: "watches end", Weight: 3, Draw: func(r *rand.Rand) any {
			return watching{Watches: drawWatch(r), Expired: r.IntN(2) == 0}
		}}, watchFault(func(operator *world.Operator, of watching) (end func() bool) {
			ended := operator.EndWatches(proxy.Watches(of.Watches), of.Expired)
			return func() bool { return ended }
		})},
		{plan.Action{Name: "watches cannot resume at their last resource version", Weight: 2, Draw: func(r *rand.Rand) any {
			return watching{Watches: drawWatch(r), Times: 1 + r.IntN(mostExpired)}
		}}, given(refuseWatches)},
	}
}

func drawWatch(r *rand.Rand) string { return watched[r.IntN(len(watched))] }

// watchFault begins a fault of watches, and calls end after its time. end reports whether the fault had an effect.
func watchFault(begin func(*world.Operator, watching) (end func() bool)) do {
	return given(func(ctx context.Context, w *world.World, _ plan.Step, of watching) error {
		end := begin(w.First(), of)
		w.During(of.For.Duration, func() {
			if end() {
				world.HadEffect(ctx)
			}
		})
		return nil
	})
}

func lateness(operator *world.Operator, late *proxy.Lateness) (end func() bool) {
	operator.Delay(late)
	return func() bool { return operator.Hurry(late) }
}

// refuseWatches ends watches, and refuses to resume them, as the API server does if it no longer has the events since
// the watches ended.
func refuseWatches(ctx context.Context, w *world.World, _ plan.Step, of watching) error {
	matches := proxy.Watches(of.Watches)
	inject(ctx, w, &proxy.Rule{Matches: matches, Times: of.Times, Fault: proxy.Refuse(http.StatusGone, 0)})
	w.First().EndWatches(matches, false)
	return nil
}
