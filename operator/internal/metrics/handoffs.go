package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
	"github.com/example-inc/memcached-operator/operator/internal/status"
)

// Results of the replacement of a Pod with a slot.
const (
	resultKept = "kept"
	resultCold = "cold"
)

// coldReasons are the reasons why a slot started without keys. Reasons of the agent are not included, because a Pod
// could invent any number of them: they count as ReasonFailed, and are in the status of the Memcached.
var coldReasons = []string{
	slots.ReasonPodLost, slots.ReasonTimedOut, slots.ReasonFailed, slots.ReasonInstructionLost,
}

// handoffBuckets are in seconds. They range from a small cache to a cache that is copied slowly.
var handoffBuckets = []float64{2, 5, 15, 60, 300, 1800, 7200}

// handoffs counts the slots that another Pod took.
type handoffs struct {
	total    *prometheus.CounterVec
	duration prometheus.Histogram
}

func newHandoffs() handoffs {
	h := handoffs{
		total: counter("handoffs_total",
			"Slots that another Pod took with their keys (kept), or that started empty because of a failure (cold).",
			"result", "reason"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "memcached_operator_handoff_duration_seconds", Buckets: handoffBuckets,
			Help: "Time from the instruction to copy the keys of a slot until the other Pod had the slot.",
		}),
	}
	h.total.WithLabelValues(resultKept, "")
	for _, reason := range coldReasons {
		h.total.WithLabelValues(resultCold, reason)
	}
	return h
}

func (h handoffs) register(registry prometheus.Registerer) {
	registry.MustRegister(h.total, h.duration)
}

// StatusReported counts the slots that another Pod took since the last status. decided has the duration of each
// handoff. Call it only after the status was written: until then, each reconciliation finds the same difference.
func (m *Metrics) StatusReported(before, now cachev1.MemcachedStatus, decided []slots.Status) {
	for _, slot := range status.StartedCold(before, now) {
		reason := slot.Reason
		if !slices.Contains(coldReasons, reason) {
			reason = slots.ReasonFailed
		}
		m.handoffs.total.WithLabelValues(resultCold, reason).Inc()
	}
	for _, slot := range status.Kept(before, now, decided) {
		m.handoffs.total.WithLabelValues(resultKept, "").Inc()
		m.handoffs.duration.Observe(slot.Took.Seconds())
	}
}
