package agent

// Metrics of the agent itself, and of a Pod with a slot.

import (
	"context"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/agent/slot"
)

// Metrics of the agent itself.
var (
	buildInfo = &exporter.Metric{
		Name: "memcached_agent_build_info", Kind: exporter.Gauge, Labels: []string{"version"},
		Help: "Always 1. The label is the agent's version.",
	}
	inSync = &exporter.Metric{
		Name: "memcached_agent_in_sync", Kind: exporter.Gauge, Labels: []string{"secret"},
		Help: "1 if memcached uses the current content of the Secret, otherwise 0.",
	}
	reloads = &exporter.Metric{
		Name: "memcached_agent_reloads_total", Kind: exporter.Counter, Labels: []string{"secret"},
		Help: "How often memcached was signalled to reload the Secret.",
	}
	restarts = &exporter.Metric{
		Name: "memcached_agent_restarts_total", Kind: exporter.Counter,
		Help: "How often the agent crashed and was restarted in its container.",
	}
)

// Metrics of a Pod with a slot.
var (
	handoffKeys = &exporter.Metric{
		Name: "memcached_agent_handoff_keys_total", Kind: exporter.Counter,
		Help: "Keys copied from the Pod that held the slot before.",
	}
	handoffBytes = &exporter.Metric{
		Name: "memcached_agent_handoff_bytes_total", Kind: exporter.Counter,
		Help: "Bytes of the copied keys and values.",
	}
	handoffDuration = &exporter.Metric{
		Name: "memcached_agent_handoff_duration_seconds", Kind: exporter.Gauge,
		Help: "How long the last copy took, or has taken so far.",
	}
	handoffProgress = &exporter.Metric{
		Name: "memcached_agent_handoff_progress_ratio", Kind: exporter.Gauge,
		Help: "How much of the former Pod's memory the last copy has copied so far, from 0 to 1.",
	}
	handoffInvalidations = &exporter.Metric{
		Name: "memcached_agent_handoff_invalidations_total", Kind: exporter.Counter,
		Help: "Keys removed from one of the two Pods because a client changed them in the other one.",
	}
	handoffFailures = &exporter.Metric{
		Name: "memcached_agent_handoff_failures_total", Kind: exporter.Counter,
		Help: "Handoffs that failed, before or after all keys were copied.",
	}
)

// handoffMetrics are exported only with --handoff-file.
func handoffMetrics() []*exporter.Metric {
	return []*exporter.Metric{
		handoffKeys, handoffBytes, handoffDuration, handoffProgress, handoffInvalidations, handoffFailures,
	}
}

// handoffSamples returns the samples of handoffMetrics.
func handoffSamples(stats slot.Stats) []exporter.Sample {
	return []exporter.Sample{
		{Metric: handoffKeys, Value: float64(stats.Keys)},
		{Metric: handoffBytes, Value: float64(stats.Bytes)},
		{Metric: handoffDuration, Value: stats.Duration.Seconds()},
		{Metric: handoffProgress, Value: stats.Progress},
		{Metric: handoffInvalidations, Value: float64(stats.Invalidations)},
		{Metric: handoffFailures, Value: float64(stats.Failures)},
	}
}

// ownMetrics are the agent's own metrics.
func ownMetrics() []*exporter.Metric { return []*exporter.Metric{buildInfo, inSync, reloads, restarts} }

// samples returns the samples of memcached and of the agent itself.
func (a *agent) samples(ctx context.Context) []exporter.Sample {
	samples := append(a.exporter.Collect(ctx),
		exporter.Sample{Metric: buildInfo, Labels: []string{a.version}, Value: 1},
		exporter.Sample{Metric: restarts, Value: float64(a.options.Restarts)})
	if a.copier != nil {
		samples = append(samples, handoffSamples(a.copier.Stats())...)
	}
	for _, watcher := range a.watchers {
		live := 0.
		if watcher.InSync() {
			live = 1
		}
		samples = append(samples,
			exporter.Sample{Metric: inSync, Labels: []string{watcher.Secret}, Value: live},
			exporter.Sample{Metric: reloads, Labels: []string{watcher.Secret}, Value: float64(watcher.Reloads())})
	}
	return samples
}
