package endpoint

import "github.com/example-inc/memcached-operator/operator/internal/agent/exporter"

// Metrics of the program.
var (
	buildInfo = &exporter.Metric{
		Name: "memcached_agent_build_info", Kind: exporter.Gauge, Labels: []string{"version"},
		Help: "Always 1. The label is the agent's version.",
	}
	restarts = &exporter.Metric{
		Name: "memcached_agent_restarts_total", Kind: exporter.Counter,
		Help: "How often the agent crashed and was restarted in its container.",
	}
)

// ProgramMetrics are the metrics of the program itself.
func ProgramMetrics() []*exporter.Metric { return []*exporter.Metric{buildInfo, restarts} }

// Program returns the samples of ProgramMetrics.
func Program(version string, restarted int) []exporter.Sample {
	return []exporter.Sample{
		{Metric: buildInfo, Labels: []string{version}, Value: 1},
		{Metric: restarts, Value: float64(restarted)},
	}
}
