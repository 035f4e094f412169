package environment

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/wait"
)

// metricsInterval is how often Await reads metrics: reading them takes a millisecond or two.
const metricsInterval = 50 * time.Millisecond

// Metrics are the operator's metrics.
type Metrics map[string]*dto.MetricFamily

// Sum adds up the series of a counter or gauge: all, or those where some label has the value.
func (m Metrics) Sum(name, value string) float64 {
	sum := 0.0
	for _, metric := range m[name].GetMetric() {
		has := func(label *dto.LabelPair) bool { return label.GetValue() == value }
		if value == "" || slices.ContainsFunc(metric.GetLabel(), has) {
			sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return sum
}

// Reconciled is how many times the operator has reconciled.
func (m Metrics) Reconciled() float64 { return m.Sum("controller_runtime_reconcile_total", "") }

// Busy returns whether the operator reconciles, or has something to reconcile in its queue.
func (m Metrics) Busy() bool {
	return m.Sum("workqueue_depth", "")+m.Sum("controller_runtime_active_workers", "") > 0
}

// Await waits until the metrics meet a condition. An operator that does not serve metrics yet meets none.
func (o *Operator) Await(ctx context.Context, timeout time.Duration, meets func(Metrics) bool) error {
	err := wait.PollUntilContextTimeout(ctx, metricsInterval, timeout, true, func(ctx context.Context) (bool, error) {
		select {
		case ended := <-o.ended:
			o.ended <- ended
			return false, fmt.Errorf("the operator ended: %w", ended)
		default:
		}
		metrics, err := o.readMetrics(ctx)
		return err == nil && meets(metrics), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the operator: %w", err)
	}
	return nil
}

// quiet is how long the operator must be idle to count as settled.
const quiet = 2 * time.Second

// Settle waits until the operator has not reconciled for a while.
func (o *Operator) Settle(ctx context.Context, timeout time.Duration) error {
	last, since := -1.0, time.Now()
	return o.Await(ctx, timeout, func(m Metrics) bool {
		if count := m.Reconciled(); count != last || m.Busy() {
			last, since = count, time.Now()
		}
		return time.Since(since) >= quiet
	})
}

func (o *Operator) readMetrics(ctx context.Context) (Metrics, error) {
	body, err := get(ctx, "http://"+o.metrics+"/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(body)
}

// uncompressed is a client that saves the operator the compression: it would take some of the time that is measured.
var uncompressed = &http.Client{Transport: &http.Transport{DisableCompression: true}}

func get(ctx context.Context, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := uncompressed.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return response.Body, nil
}
