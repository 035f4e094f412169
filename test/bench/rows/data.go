package rows

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// loaded is a memcached under load.
type loaded struct {
	name, what string
	spec       cachev1.MemcachedSpec
	port       string
	flags      []string // of the client
	scraped    bool

	pod       *corev1.Pod
	endpoint  string
	perSecond []float64
	p99       []float64 // microseconds
}

// Secrets of the caches.
const (
	tlsSecret  = "bench-tls"
	authSecret = "bench-users"
)

// variants are the caches: one that is as bare as a Pod can be, and others that differ from it in one thing each.
func variants(tlsFlags, authFlags []string) []*loaded {
	without := &cachev1.Metrics{Mode: cachev1.MetricsDisabled}
	return []*loaded{
		{name: "plain", port: "11211", spec: cachev1.MemcachedSpec{Metrics: without}},
		{name: "sidecar", what: "the agent, scraped once a second", port: "11211", scraped: true},
		{
			name: "auth", what: "auth", port: "11211", flags: authFlags,
			spec: cachev1.MemcachedSpec{Metrics: without, Auth: &cachev1.Auth{SecretName: authSecret}},
		},
		{
			name: "tls", what: "TLS", port: "11212", flags: tlsFlags,
			spec: cachev1.MemcachedSpec{Metrics: without, TLS: &cachev1.TLS{SecretName: tlsSecret}},
		},
	}
}

// note adds what a client told.
func (l *loaded) note(output string) error {
	var told struct {
		PerSecond float64 `json:"perSecond"`
		P99       float64 `json:"p99"`
	}
	if err := json.NewDecoder(strings.NewReader(output)).Decode(&told); err != nil {
		return fmt.Errorf("the client told %q: %w", output, err)
	}
	if told.PerSecond == 0 {
		return fmt.Errorf("the client got no answer: %s", output)
	}
	l.perSecond, l.p99 = append(l.perSecond, told.PerSecond), append(l.p99, told.P99)
	return nil
}

// turn is the order of a run: each the other way round than the one before, so that none is always the earlier one of
// two that are compared.
func turn(caches []*loaded, run int) []*loaded {
	order := slices.Clone(caches)
	if run%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// dataFigures compares a Pod with the bare process, and Pods that do more with that one.
func dataFigures(bare, plain *loaded, others []*loaded) []report.Figure {
	requests := fmt.Sprintf("%s requests a second against %s",
		report.Number(report.Median(plain.perSecond)), report.Number(report.Median(bare.perSecond)))
	delays := fmt.Sprintf("%s µs against %s µs",
		report.Number(report.Median(plain.p99)), report.Number(report.Median(bare.p99)))
	figures := []report.Figure{
		report.Judge("data path, Pod against a bare process: throughput", ratio(plain.perSecond, bare.perSecond),
			report.AtLeast(0.95, "times"), requests),
		report.Judge("data path, Pod against a bare process: p99", ratio(plain.p99, bare.p99),
			report.AtMost(1.1, "times"), delays),
	}
	for _, other := range others {
		figures = append(figures, report.Tell("data path, what "+other.what+" costs: throughput",
			ratio(other.perSecond, plain.perSecond), "times",
			"p99 "+report.Number(ratio(other.p99, plain.p99))+" times"))
	}
	return figures
}

// ratio is the median of the ratios of each run.
func ratio(these, those []float64) float64 {
	ratios := make([]float64, len(these))
	for i := range these {
		ratios[i] = these[i] / those[i]
	}
	return report.Median(ratios)
}
