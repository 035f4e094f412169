package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Work monitors the workers, for the probes.
type Work struct {
	// limit is how long a reconciliation may take, and how long requests may be queued while none starts.
	limit time.Duration

	mu      sync.Mutex
	queue   interface{ Len() int } // nil before the controller starts, which it does once this operator leads
	running map[reconcile.Request]time.Time
	begun   int

	// stillSince is the time since which requests are queued and no reconciliation has started; zero if no request is
	// queued. begunThen is the value of begun at the last check.
	stillSince time.Time
	begunThen  int
}

// NewWork returns a Work for reconciliations whose context ends after the timeout. A reconciliation that takes longer
// hangs: it ignores its context. The limit is three times the timeout, because the kubelet restarts the operator when
// the limit is exceeded, which interrupts all other reconciliations.
func NewWork(timeout time.Duration) *Work {
	return &Work{limit: 3 * timeout, running: map[reconcile.Request]time.Time{}}
}

// Hangs returns an error if a reconciliation takes far longer than its timeout.
func (w *Work) Hangs() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for request, since := range w.running {
		if took := time.Since(since); took > w.limit {
			return fmt.Errorf("the reconciliation of %s hangs: it has run for %s", request, took.Round(time.Second))
		}
	}
	return nil
}

// StandsStill returns an error if requests are queued and no reconciliation starts. For this, it compares the number of
// begun reconciliations with that of its previous call.
func (w *Work) StandsStill() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := 0
	if w.queue != nil {
		waiting = w.queue.Len()
	}
	if waiting == 0 || w.begun != w.begunThen {
		w.stillSince, w.begunThen = time.Time{}, w.begun
		return nil
	}
	if w.stillSince.IsZero() {
		w.stillSince = time.Now()
	}
	if still := time.Since(w.stillSince); still > w.limit {
		return fmt.Errorf("%d Memcacheds are queued, and none has been reconciled for %s", waiting, still.Round(time.Second))
	}
	return nil
}

// note returns a reconciler that also records when each reconciliation begins and ends.
func (w *Work) note(reconciler reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (ctrl.Result, error) {
		w.begin(request)
		defer w.end(request)
		return reconciler.Reconcile(ctx, request)
	})
}

func (w *Work) begin(request reconcile.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
	w.running[request] = time.Now()
}

func (w *Work) end(request reconcile.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, request)
}

// newQueue creates the same queue as controller-runtime does, and keeps a reference to it to read its length.
func (w *Work) newQueue(
	name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	made := priorityqueue.New(name, func(options *priorityqueue.Opts[reconcile.Request]) {
		options.RateLimiter = limiter
		options.Log = ctrl.Log.WithValues("controller", name)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = made
	return made
}

// watched makes the controller use a queue that Work monitors.
func (w *Work) watched(options controller.Options) controller.Options {
	options.NewQueue = w.newQueue
	return options
}
