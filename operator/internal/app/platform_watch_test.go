package app

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

func TestAnOperatorThatMayNotWatchThePlatformAsksOnce(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`))
	}))
	defer server.Close()
	watch := platformWatch{
		config: &rest.Config{Host: server.URL}, platform: &platform{known: plan.Kubernetes}, changed: make(chan event.GenericEvent, 1),
	}
	if err := watch.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := asked.Load(); got == 0 || got > 2 { // A watch that begins with a list, or a list and a watch.
		t.Errorf("asked %d times", got)
	}
	if got, err := watch.platform.find(t.Context()); got != plan.Kubernetes || err != nil {
		t.Errorf("platform %q, want the one that was found at first: %v", got, err)
	}
}

func TestCachesAreLookedAtOnlyWhenThePlatformIsAnotherOne(t *testing.T) {
	tests := map[string]struct {
		known, found plan.Platform
		want         int
	}{
		"it was not needed yet":       {"", plan.OpenShift, 0},
		"it is what was known":        {plan.OpenShift, plan.OpenShift, 0},
		"OpenShift's APIs came":       {plan.Kubernetes, plan.OpenShift, 1},
		"OpenShift's APIs went again": {plan.OpenShift, plan.Kubernetes, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			watch := platformWatch{platform: &platform{known: tc.known}, changed: make(chan event.GenericEvent, 1)}
			watch.found(tc.found)
			watch.found(tc.found)
			if got := len(watch.changed); got != tc.want {
				t.Errorf("reported %d times, want %d", got, tc.want)
			}
			if got, _ := watch.platform.find(t.Context()); got != tc.found {
				t.Errorf("platform %q, want %q", got, tc.found)
			}
		})
	}
}
