package exporter

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// FuzzAnyAnswerGivesMetrics: whatever a memcached answers, Prometheus can read the metrics that the agent exports.
func FuzzAnyAnswerGivesMetrics(f *testing.F) {
	f.Add("version 1.6.45\nmax_connections 5", "items:1:number 5\nitems:1:age 7\nitems:01:number 5", "1:chunk_size 96\n1:get_hits NaN")
	f.Add("version 1.6\"\\\xff\npid -Inf", "items:99999999:evicted 1e999", "total_malloced yes\n-1:used_chunks no")
	f.Fuzz(func(t *testing.T, generals, ofItems, ofSlabs string) {
		got := answers{
			general: fields(generals), settings: fields(generals),
			items: ByClass(fields(ofItems), "items:"), slabs: ByClass(fields(ofSlabs), ""),
		}
		for _, each := range []bool{false, true} {
			var text bytes.Buffer
			if err := Write(&text, got.samples(each, &evictions{})); err != nil {
				t.Fatal(err)
			}
			parser := expfmt.NewTextParser(model.UTF8Validation)
			if _, err := parser.TextToMetricFamilies(&text); err != nil {
				t.Errorf("Prometheus can't read it: %v", err)
			}
		}
	})
}

// fields reads lines that have a name and a value. A line of memcached has no line end within it.
func fields(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		all[name] = value
	}
	return all
}
