package agent

// Metrics of the agent itself.

import (
	"context"

	"github.com/example-inc/memcached-operator/operator/internal/agent/endpoint"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
)

// Metrics that report what the agent does for memcached.
var (
	inSync = &exporter.Metric{
		Name: "memcached_agent_in_sync", Kind: exporter.Gauge, Labels: []string{"secret"},
		Help: "1 if memcached uses the current content of the Secret, otherwise 0.",
	}
	reloads = &exporter.Metric{
		Name: "memcached_agent_reloads_total", Kind: exporter.Counter, Labels: []string{"secret"},
		Help: "How often the agent made memcached reload the Secret.",
	}
)

// ownMetrics are the agent's own metrics.
func ownMetrics() []*exporter.Metric { return append(endpoint.ProgramMetrics(), inSync, reloads) }

// samples returns the samples of memcached and of the agent itself.
func (a *agent) samples(ctx context.Context) []exporter.Sample {
	samples := append(a.exporter.Collect(ctx), endpoint.Program(a.version, a.options.Restarts)...)
	if a.copier != nil {
		samples = append(samples, a.copier.Tracker.Samples()...)
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
