package exporter

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a metric.
type Kind string

// The types in use.
const (
	Gauge   Kind = "gauge"
	Counter Kind = "counter"
)

// Metric has what all series with the same name have in common.
type Metric struct {
	Name   string
	Kind   Kind
	Help   string
	Labels []string // names
}

// Sample is the value of one series.
type Sample struct {
	Metric *Metric
	Labels []string // values
	Value  float64
}

// Write writes samples in Prometheus' text format, version 0.0.4. Prometheus' own library would take 3 MiB of the 15
// MiB that the agent may use.
func Write(to io.Writer, samples []Sample) error {
	slices.SortFunc(samples, func(a, b Sample) int {
		return cmp.Or(strings.Compare(a.Metric.Name, b.Metric.Name), slices.Compare(a.Labels, b.Labels))
	})
	out := bufio.NewWriter(to)
	for i, sample := range samples {
		metric := sample.Metric
		if i == 0 || samples[i-1].Metric.Name != metric.Name {
			fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric.Name, metric.Help, metric.Name, metric.Kind)
		}
		_, _ = out.WriteString(metric.Name)
		for j, label := range metric.Labels {
			separator := ","
			if j == 0 {
				separator = "{"
			}
			_, _ = out.WriteString(separator + label + `="` + escape.Replace(sample.Labels[j]) + `"`)
		}
		if len(metric.Labels) > 0 {
			_ = out.WriteByte('}')
		}
		_, _ = out.WriteString(" " + strconv.FormatFloat(sample.Value, 'g', -1, 64) + "\n")
	}
	return out.Flush()
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
