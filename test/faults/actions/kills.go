package actions

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/proxy"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// atWrite says at which of the next writes, and when, the operator is killed.
type atWrite struct {
	Write int    `json:"write"` // 1 is the next one
	When  string `json:"when"`  // beforeSent, beforeAnswered or afterAnswered
}

// moments of a write.
const (
	beforeSent     = "beforeSent"
	beforeAnswered = "beforeAnswered"
	afterAnswered  = "afterAnswered"
)

func kills() []Action {
	return []Action{
		{plan.Action{Name: "kill the operator", Weight: 2}, func(_ context.Context, w *world.World, _ plan.Step) error {
			return w.Replace(w.First())
		}},
		{plan.Action{Name: "kill the operator at a write", Weight: 6, Draw: func(r *rand.Rand) any {
			return atWrite{1 + r.IntN(6), []string{beforeSent, beforeAnswered, afterAnswered}[r.IntN(3)]}
		}}, killAtWrite},
	}
}

// killAtWrite waits for the write in the background: the next steps may be what causes it.
func killAtWrite(_ context.Context, w *world.World, step plan.Step) error {
	at, err := arguments[atWrite](step)
	if err != nil {
		return err
	}
	operator := w.First()
	var writes atomic.Int32
	killed := make(chan struct{})
	remove := operator.Add(proxy.Rule{
		Matches: func(r *http.Request) bool { return proxy.IsWrite(r) && int(writes.Add(1)) == at.Write },
		Handle: func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			switch at.When {
			case beforeAnswered:
				next.ServeHTTP(discard{http.Header{}}, r)
			case afterAnswered:
				next.ServeHTTP(rw, r)
				_ = http.NewResponseController(rw).Flush()
			}
			close(killed)
			operator.Kill()
		},
	})
	w.Later(func(context.Context) error { remove(); return nil })
	go func() {
		<-killed
		_ = w.Replace(operator)
	}()
	return nil
}

// discard takes an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
