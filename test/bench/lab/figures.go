package lab

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/wait"
)

// metricsLook is how often metrics are read while something is waited for: reading them takes a millisecond or two.
const metricsLook = 50 * time.Millisecond

// Metrics are the operator's metrics, summed over labels that were not asked for.
type Metrics map[string]*dto.MetricFamily

// Sum adds up the series of a counter or gauge that have a label's value. Without a label it adds up all.
func (m Metrics) Sum(name, label, value string) float64 {
	sum := 0.0
	for _, metric := range m[name].GetMetric() {
		if label == "" || hasLabel(metric, label, value) {
			sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return sum
}

func hasLabel(metric *dto.Metric, name, value string) bool {
	for _, label := range metric.GetLabel() {
		if label.GetName() == name && label.GetValue() == value {
			return true
		}
	}
	return false
}

// Passes is how many passes the operator has made, and ended.
func (m Metrics) Passes() float64 { return m.Sum("controller_runtime_reconcile_total", "", "") }

// Busy tells whether a pass is under way or waits in the queue.
func (m Metrics) Busy() bool {
	return m.Sum("workqueue_depth", "", "")+m.Sum("controller_runtime_active_workers", "", "") > 0
}

// Metrics reads them.
func (o *Operator) Metrics(ctx context.Context) (Metrics, error) {
	body, err := get(ctx, "http://"+o.metrics+"/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(body)
}

// Await waits until the metrics fulfil a condition. An operator that does not serve any yet fulfils none.
func (o *Operator) Await(ctx context.Context, limit time.Duration, fulfil func(Metrics) bool) error {
	err := wait.PollUntilContextTimeout(ctx, metricsLook, limit, true, func(ctx context.Context) (bool, error) {
		select {
		case ended := <-o.ended:
			o.ended <- ended
			return false, fmt.Errorf("the operator ended: %w", ended)
		default:
		}
		metrics, err := o.Metrics(ctx)
		return err == nil && fulfil(metrics), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the operator: %w", err)
	}
	return nil
}

// quiet is how long nothing happens before the operator counts as done.
const quiet = 2 * time.Second

// Settle waits until the operator has made no pass for a while.
func (o *Operator) Settle(ctx context.Context, limit time.Duration) error {
	last, since := -1.0, time.Now()
	return o.Await(ctx, limit, func(m Metrics) bool {
		if passes := m.Passes(); passes != last || m.Busy() {
			last, since = passes, time.Now()
		}
		return time.Since(since) >= quiet
	})
}

// Memory is what the operator holds, in bytes.
type Memory struct {
	Heap     float64 // after a garbage collection
	Resident float64 // before it
	Peak     float64 // the most that was ever resident
}

// Memory reads it. Only Linux tells what is resident.
func (o *Operator) Memory(ctx context.Context) (memory Memory, err error) {
	if memory.Resident, err = o.status("VmRSS"); err != nil {
		return memory, err
	}
	if memory.Peak, err = o.status("VmHWM"); err != nil {
		return memory, err
	}
	body, err := get(ctx, "http://"+o.profiles+"/debug/pprof/heap?gc=1&debug=1")
	if err != nil {
		return memory, err
	}
	defer body.Close()
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "# HeapAlloc = %f", &memory.Heap); err == nil {
			return memory, nil
		}
	}
	return memory, fmt.Errorf("the heap profile does not tell HeapAlloc")
}

// status reads a size that the kernel keeps of the process.
func (o *Operator) status(key string) (float64, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(content)) {
		var kibibytes float64
		if _, err := fmt.Sscanf(line, key+": %f kB", &kibibytes); err == nil {
			return kibibytes * 1024, nil
		}
	}
	return 0, fmt.Errorf("the kernel does not tell %s", key)
}

// Profile writes a profile of the operator into a file: "heap?gc=1", or "profile?seconds=10" of its CPU time from now
// on.
func (o *Operator) Profile(ctx context.Context, what, path string) error {
	body, err := get(ctx, "http://"+o.profiles+"/debug/pprof/"+what)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(file, body)
	return err
}

// plainly asks for what is not compressed: that would take the operator some of the time that is measured.
var plainly = &http.Client{Transport: &http.Transport{DisableCompression: true}}

func get(ctx context.Context, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := plainly.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return response.Body, nil
}
