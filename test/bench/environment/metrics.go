package environment

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/example-inc/memcached-operator/internal/testing/monitor"
)

// metricsInterval is the time between two reads of the metrics by Await. A read takes a millisecond or two.
const metricsInterval = 50 * time.Millisecond

// Await waits until the metrics meet a condition. While the operator does not serve metrics yet, the condition is not
// met.
func (o *Operator) Await(ctx context.Context, timeout time.Duration, meets func(monitor.Metrics) bool) error {
	err := wait.PollUntilContextTimeout(ctx, metricsInterval, timeout, true, func(ctx context.Context) (bool, error) {
		select {
		case ended := <-o.ended:
			o.ended <- ended
			return false, fmt.Errorf("the operator ended: %w", ended)
		default:
		}
		metrics, err := o.ReadMetrics(ctx)
		return err == nil && meets(metrics), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the operator: %w", err)
	}
	return nil
}

// quiet is how long the operator must reconcile nothing before Settle returns.
const quiet = 2 * time.Second

// Settle waits until the operator has not reconciled for a while.
func (o *Operator) Settle(ctx context.Context, timeout time.Duration) error {
	last, since := -1.0, time.Now()
	return o.Await(ctx, timeout, func(m monitor.Metrics) bool {
		if count := m.Reconciled(); count != last || m.Busy() {
			last, since = count, time.Now()
		}
		return time.Since(since) >= quiet
	})
}
