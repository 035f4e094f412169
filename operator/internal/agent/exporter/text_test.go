package exporter

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestWrite(t *testing.T) {
	plain := &Metric{Name: "b", Kind: Gauge, Help: "The b."}
	labelled := &Metric{Name: "a_total", Kind: Counter, Help: "The a.", Labels: []string{"x", "y"}}
	var out bytes.Buffer
	err := Write(&out, []Sample{
		{Metric: plain, Value: 0.5}, {labelled, []string{"2", `"\` + "\n"}, 1e10}, {labelled, []string{"1", ""}, 3},
	})
	want := `# HELP a_total The a.
# TYPE a_total counter
a_total{x="1",y=""} 3
a_total{x="2",y="\"\\\n"} 1e+10
# HELP b The b.
# TYPE b gauge
b 0.5
`
	if diff := cmp.Diff(want, out.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestPrometheusReadsWhatIsWritten reads every metric with Prometheus' own parser.
func TestPrometheusReadsWhatIsWritten(t *testing.T) {
	var samples []Sample
	for i, metric := range Metrics() {
		labels := make([]string, len(metric.Labels))
		for j := range labels {
			labels[j] = "\"\\\n"
		}
		samples = append(samples, Sample{metric, labels, float64(i)})
	}
	var out bytes.Buffer
	if err := Write(&out, samples); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&out)
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != len(samples) {
		t.Errorf("%d families of %d metrics", len(families), len(samples))
	}
	for _, sample := range samples {
		family := families[sample.Metric.Name]
		if family.GetHelp() != sample.Metric.Help || len(family.GetMetric()) != 1 {
			t.Errorf("%s: %v", sample.Metric.Name, family)
			continue
		}
		for _, label := range family.GetMetric()[0].GetLabel() {
			if label.GetValue() != "\"\\\n" {
				t.Errorf("%s: label %v", sample.Metric.Name, label)
			}
		}
	}
}
