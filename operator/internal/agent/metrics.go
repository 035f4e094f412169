package agent

import (
	"context"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
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

// ownMetrics are the agent's own metrics.
func ownMetrics() []*exporter.Metric { return []*exporter.Metric{buildInfo, inSync, reloads, restarts} }

// samples returns the samples of memcached and of the agent itself.
func (a *agent) samples(ctx context.Context) []exporter.Sample {
	samples := append(a.exporter.Collect(ctx),
		exporter.Sample{Metric: buildInfo, Labels: []string{a.version}, Value: 1},
		exporter.Sample{Metric: restarts, Value: float64(a.options.Restarts)})
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
