package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// TestAHangingAPIServerBlocksNoReconciliationBeyondItsTimeout: the reconciliations share one request, and each ends at
// its own timeout. The watch can report the platform while the request hangs.
func TestAHangingAPIServerBlocksNoReconciliationBeyondItsTimeout(t *testing.T) {
	release := make(chan struct{})
	var questions atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		questions.Add(1)
		<-release
	}))
	defer server.Close()
	defer close(release)
	found, err := newPlatform(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if got, err := found.find(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("platform %q, error %v", got, err)
		}
		cancel()
	}
	if asked := questions.Load(); asked != 1 {
		t.Errorf("%d questions, want 1", asked)
	}
	found.becomes(plan.OpenShift)
	if got, err := found.find(t.Context()); got != plan.OpenShift || err != nil {
		t.Errorf("platform %q, error %v: the watch has reported it", got, err)
	}
}
