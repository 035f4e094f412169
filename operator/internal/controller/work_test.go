package controller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func requestFor(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: name}}
}

// TestAReconciliationThatDoesNotEndIsAHungWorker also checks that the other workers report nothing, however many there
// are.
func TestAReconciliationThatDoesNotEndIsAHungWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := NewWork(time.Minute)
		hang, failed := make(chan struct{}), errors.New("failed")
		reconciler := work.note(reconcile.Func(func(_ context.Context, request reconcile.Request) (ctrl.Result, error) {
			if request.Name == "hangs" {
				<-hang // It ignores the end of its context.
			}
			return ctrl.Result{}, failed
		}))
		ended := make(chan error)
		go func() {
			_, err := reconciler.Reconcile(t.Context(), requestFor("hangs"))
			ended <- err
		}()
		for range 180 {
			time.Sleep(time.Second)
			if _, err := reconciler.Reconcile(t.Context(), requestFor("ends")); !errors.Is(err, failed) {
				t.Fatalf("its error is not passed on: %v", err)
			}
			if err := work.Hangs(); err != nil {
				t.Fatalf("too early: %v", err)
			}
		}
		time.Sleep(time.Second)
		want := "the reconciliation of team/hangs hangs: it has run for 3m1s"
		if err := work.Hangs(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
		close(hang)
		if err := <-ended; !errors.Is(err, failed) {
			t.Errorf("its error is not passed on: %v", err)
		}
		if err := work.Hangs(); err != nil {
			t.Errorf("after its end: %v", err)
		}
	})
}

func TestAQueueStandsStillOnlyWhileNothingBegins(t *testing.T) {
	const every = 5 * time.Second // as often as the kubelet probes
	tests := map[string]struct {
		waiting, reconciled bool
		before              time.Duration // the time without a probe
		asked               time.Duration
		still               bool
	}{
		"nothing waits":                                     {asked: time.Hour},
		"much waits, and is worked on":                      {waiting: true, reconciled: true, asked: time.Hour},
		"it waits for as long as it may":                    {waiting: true, asked: 3 * time.Minute},
		"it waits for longer":                               {waiting: true, asked: 4 * time.Minute, still: true},
		"it was not checked for an hour, and then it waits": {waiting: true, before: time.Hour, asked: time.Second},
	}
	for sentence, tc := range tests {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				work := NewWork(time.Minute)
				if err := work.StandsStill(); err != nil {
					t.Fatalf("an operator that stands by: %v", err)
				}
				queue := work.newQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
				defer queue.ShutDown()
				time.Sleep(tc.before)
				reconciler := work.note(reconcile.Func(func(context.Context, reconcile.Request) (ctrl.Result, error) {
					return ctrl.Result{}, nil
				}))
				if tc.waiting {
					queue.Add(requestFor("waits"))
				}
				var err error
				for start := time.Now(); time.Since(start) <= tc.asked; time.Sleep(every) {
					if tc.reconciled {
						_, _ = reconciler.Reconcile(t.Context(), requestFor("another"))
					}
					err = work.StandsStill()
				}
				if (err != nil) != tc.still {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
