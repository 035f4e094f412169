package report

import "github.com/example-inc/memcached-operator/operator/internal/agent/exporter"

// Metrics of an agent that hands over keys.
var (
	handoffKeys = &exporter.Metric{
		Name: "memcached_agent_handoff_keys_total", Kind: exporter.Counter,
		Help: "Keys that were copied from the Pod that had the slot before, or from servers outside of the cache.",
	}
	handoffBytes = &exporter.Metric{
		Name: "memcached_agent_handoff_bytes_total", Kind: exporter.Counter,
		Help: "Bytes of the copied keys and values.",
	}
	handoffSkipped = &exporter.Metric{
		Name: "memcached_agent_handoff_skipped_keys_total", Kind: exporter.Counter,
		Help: "Keys that were not copied: keys whose value is a number, keys about to expire, and the coldest keys if " +
			"there was not enough memory or time.",
	}
	handoffDuration = &exporter.Metric{
		Name: "memcached_agent_handoff_duration_seconds", Kind: exporter.Gauge,
		Help: "How long the last copy took, or has taken so far.",
	}
	handoffProgress = &exporter.Metric{
		Name: "memcached_agent_handoff_progress_ratio", Kind: exporter.Gauge,
		Help: "Part of the old servers' memory that the last copy has copied so far, from 0 to 1.",
	}
	handoffInvalidations = &exporter.Metric{
		Name: "memcached_agent_handoff_invalidations_total", Kind: exporter.Counter,
		Help: "Keys removed from one server because a client changed them in another one.",
	}
	handoffFailures = &exporter.Metric{
		Name: "memcached_agent_handoff_failures_total", Kind: exporter.Counter,
		Help: "Handoffs that failed, before or after all keys were copied.",
	}
)

// Metrics returns the metrics of handoffs. They are exported only with --handoff-file, and by agent bootstrap.
func Metrics() []*exporter.Metric {
	return []*exporter.Metric{
		handoffKeys, handoffBytes, handoffSkipped, handoffDuration, handoffProgress, handoffInvalidations, handoffFailures,
	}
}

// Samples returns the samples of Metrics.
func (t *Tracker) Samples() []exporter.Sample {
	stats := t.Stats()
	return []exporter.Sample{
		{Metric: handoffKeys, Value: float64(stats.Keys)},
		{Metric: handoffBytes, Value: float64(stats.Bytes)},
		{Metric: handoffSkipped, Value: float64(stats.Skipped)},
		{Metric: handoffDuration, Value: stats.Duration.Seconds()},
		{Metric: handoffProgress, Value: stats.Progress},
		{Metric: handoffInvalidations, Value: float64(stats.Invalidations)},
		{Metric: handoffFailures, Value: float64(stats.Failures)},
	}
}
