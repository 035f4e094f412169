// Package monitor reads the metrics and the memory of an operator that runs as a process.
package monitor

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Process is an operator that runs on this machine, with --metrics-insecure and --pprof-bind-address.
type Process struct {
	Pid               int
	Metrics, Profiles string // addresses
}

// FreeAddresses returns two addresses on which nothing listens at the moment.
func FreeAddresses() (metrics, profiles string, err error) {
	for _, address := range []*string{&metrics, &profiles} {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer listener.Close() // Both stay open until the end, so that the addresses differ.
		*address = listener.Addr().String()
	}
	return metrics, profiles, nil
}

// Flags are the flags that make the operator listen at these addresses.
func (p Process) Flags() []string {
	return []string{
		"--metrics-insecure", "--metrics-bind-address=" + p.Metrics, "--pprof-bind-address=" + p.Profiles,
	}
}

// Metrics are the operator's metrics.
type Metrics map[string]*dto.MetricFamily

// Sum adds up the series of a counter or gauge: all of its series or, if value is not empty, those that have a label
// with this value.
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

// Reconciled returns how many times the operator has reconciled.
func (m Metrics) Reconciled() float64 { return m.Sum("controller_runtime_reconcile_total", "") }

// Busy returns whether the operator reconciles, or has something to reconcile in its queue.
func (m Metrics) Busy() bool {
	return m.Sum("workqueue_depth", "")+m.Sum("controller_runtime_active_workers", "") > 0
}

// ReadMetrics reads the operator's metrics.
func (p Process) ReadMetrics(ctx context.Context) (Metrics, error) {
	body, err := get(ctx, "http://"+p.Metrics+"/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return Parse(body)
}

// Parse reads metrics in the text format in which they are exported.
func Parse(body io.Reader) (Metrics, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(body)
}

// uncompressed is a client that requests answers without compression, because compressing would take some of the
// operator's time, which is measured.
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
