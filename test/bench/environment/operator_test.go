package environment

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
)

// serving is an operator that does nothing but serve metrics.
func serving(t *testing.T, metrics func() string) *Operator {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, metrics())
	}))
	t.Cleanup(server.Close)
	return &Operator{Process: monitor.Process{Metrics: strings.TrimPrefix(server.URL, "http://")}, ended: make(chan error, 1)}
}

func metrics(done, queued, active int) string {
	return fmt.Sprintf(`# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="memcached",result="success"} %d
controller_runtime_reconcile_total{controller="memcached",result="error"} 1
# TYPE workqueue_depth gauge
workqueue_depth{name="memcached",priority="0"} %d
workqueue_depth{name="memcached",priority="-100"} 0
# TYPE controller_runtime_active_workers gauge
controller_runtime_active_workers{controller="memcached"} %d
`, done, queued, active)
}

func TestMetrics(t *testing.T) {
	tests := map[string]struct {
		metrics string
		busy    bool
	}{
		"idle":                            {metrics(7, 0, 0), false},
		"a Memcached is in the queue":     {metrics(7, 1, 0), true},
		"a reconciliation is in progress": {metrics(7, 0, 1), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			metrics, err := serving(t, func() string { return tc.metrics }).ReadMetrics(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if metrics.Reconciled() != 8 || metrics.Busy() != tc.busy {
				t.Errorf("%v reconciliations, busy %t, want 8 and %t", metrics.Reconciled(), metrics.Busy(), tc.busy)
			}
			if got := metrics.Sum("controller_runtime_reconcile_total", "success"); got != 7 {
				t.Errorf("%v successful reconciliations, want 7", got)
			}
		})
	}
}

func TestAnOperatorHasSettledWhenItHasNotReconciledForAWhile(t *testing.T) {
	var reads atomic.Int32
	operator := serving(t, func() string { return metrics(int(min(reads.Add(1), 10)), 0, 0) })
	began := time.Now()
	if err := operator.Settle(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < quiet || reads.Load() <= 10 {
		t.Errorf("it settled after %s and %d reads", took, reads.Load())
	}
}

func TestAwaitFailsWhenTheOperatorHasEnded(t *testing.T) {
	operator := serving(t, func() string { return metrics(0, 0, 0) })
	operator.ended <- nil
	err := operator.Await(t.Context(), time.Minute, func(monitor.Metrics) bool { return false })
	if err == nil || !strings.Contains(err.Error(), "the operator ended") {
		t.Errorf("error %v", err)
	}
}
