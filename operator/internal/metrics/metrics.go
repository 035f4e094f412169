// Package metrics counts what the operator does. No series is about a single Memcached, so the number of series does
// not depend on the number of caches.
package metrics

// The metrics of the operator, and the counting of reconciliations and writes.

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/apply"
	"github.com/example-inc/memcached-operator/operator/internal/observe"
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

// Results of a reconciliation. A failed reconciliation is retried.
const (
	resultDone   = "done"
	resultFailed = "failed"
)

// kindMemcached is the kind whose status the operator writes.
const kindMemcached = "Memcached"

// reasons are the reasons of the Ready condition.
var reasons = []string{
	cachev1.ReasonAllPodsReady, cachev1.ReasonScaledToZero, cachev1.ReasonRollingOut, cachev1.ReasonHandingOver,
	cachev1.ReasonPodsNotReady, cachev1.ReasonProgressDeadlineExceeded, cachev1.ReasonInvalidSpec,
	cachev1.ReasonKeysMoving, cachev1.ReasonResizing,
	cachev1.ReasonCertificateUnavailable, cachev1.ReasonSecretNotFound, cachev1.ReasonInvalidSecret,
	cachev1.ReasonCertificateExpired, cachev1.ReasonOwnershipConflict, cachev1.ReasonFieldManagerConflict,
	cachev1.ReasonApplyFailed, cachev1.ReasonSuspended,
}

// deviations are the reasons of the condition AsUsual while it is False.
var deviations = usual.Reasons()

// writes are the results that made, or tried to make, a change. The other results leave the object unchanged.
var writes = []apply.Result{
	apply.Created, apply.Updated, apply.Adopted, apply.Deleted, apply.Paused, apply.Failed,
}

// buckets are in seconds. They range from a change that replaces no Pods to Pods that wait for a Node.
var buckets = []float64{0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600}

// Metrics are the operator's metrics.
type Metrics struct {
	reconciles *prometheus.CounterVec
	written    *prometheus.CounterVec
	drift      *prometheus.CounterVec
	ready      prometheus.Histogram
	handoffs   handoffs
	waits      *waits
}

// New returns metrics whose counts are 0. Every series exists from the start, because a counter that first appears with
// the value 1 would hide its first increase.
func New(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		reconciles: counter("reconciles_total",
			"Reconciliations of a Memcached, by the resulting reason of Ready. A failed reconciliation is retried.",
			"reason", "result"),
		written: counter("writes_total",
			"Writes to managed objects, by result. For the kind Memcached: writes of its status.", "kind", "result"),
		drift: counter("drift_corrected_total",
			"Managed objects in which drift was corrected.", "kind"),
		ready: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "memcached_operator_ready_seconds", Buckets: buckets,
			Help: "Time from a change to the spec until the cache was Ready with that spec.",
		}),
		waits: newWaits(), handoffs: newHandoffs(),
	}
	m.begin()
	registry.MustRegister(m.reconciles, m.written, m.drift, m.ready)
	m.handoffs.register(registry)
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "memcached_operator_" + name, Help: help}, labels)
}

// begin creates all series.
func (m *Metrics) begin() {
	for _, reason := range reasons {
		for _, result := range []string{resultDone, resultFailed} {
			m.reconciles.WithLabelValues(reason, result)
		}
	}
	for _, kind := range observe.AllKinds() {
		m.drift.WithLabelValues(kind.Kind)
		for _, result := range writes {
			m.written.WithLabelValues(kind.Kind, string(result))
		}
	}
	for _, result := range []apply.Result{apply.Updated, apply.Failed} {
		m.written.WithLabelValues(kindMemcached, string(result))
	}
}

// Reconciled counts a reconciliation, with the resulting status and the error for which it is retried, if any.
func (m *Metrics) Reconciled(mc *cachev1.Memcached, report apply.Report, now cachev1.MemcachedStatus, err error) {
	result := resultDone
	if err != nil {
		result = resultFailed
	}
	if ready := meta.FindStatusCondition(now.Conditions, cachev1.ConditionReady); ready != nil {
		m.reconciles.WithLabelValues(ready.Reason, result).Inc()
	}
	for _, outcome := range report {
		m.outcome(outcome)
	}
	if took, ready := m.waits.look(mc, now); ready {
		m.ready.Observe(took.Seconds())
	}
}

func (m *Metrics) outcome(o apply.Outcome) {
	if slices.Contains(writes, o.Result) {
		m.written.WithLabelValues(o.Kind, string(o.Result)).Inc()
	}
	if o.Result == apply.Updated && len(o.Drift) > 0 {
		m.drift.WithLabelValues(o.Kind).Inc()
	}
}

// StatusWritten counts a write of a Memcached's status.
func (m *Metrics) StatusWritten(err error) {
	result := apply.Updated
	if err != nil {
		result = apply.Failed
	}
	m.written.WithLabelValues(kindMemcached, string(result)).Inc()
}
