package exporter

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leftOut are the metrics of the official exporter that are about parts of memcached which the operator does not use.
var leftOut = []string{"memcached_extstore_", "memcached_proxy_", "memcached_round_robin_fallback_total", "memcached_unexpected_napi_ids_total"}

// added are the metrics that the official exporter does not have.
var added = []string{"memcached_auth_errors_total counter", "memcached_certificate_not_after_timestamp_seconds gauge", "memcached_threads gauge"}

// TestNamesTypesAndLabelsAreThoseOfTheOfficialExporter compares the agent's metrics with a list that was made from the
// source of that exporter.
func TestNamesTypesAndLabelsAreThoseOfTheOfficialExporter(t *testing.T) {
	content, err := os.ReadFile("testdata/memcached_exporter-0.16.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(added)
	for line := range strings.Lines(string(content)) {
		isLeftOut := slices.ContainsFunc(leftOut, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
		if line[0] != '#' && !isLeftOut {
			want = append(want, strings.TrimSpace(line))
		}
	}
	var got []string
	for _, metric := range Metrics() {
		got = append(got, strings.TrimSpace(metric.Name+" "+string(metric.Kind)+" "+strings.Join(metric.Labels, ",")))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-official +agent):\n%s", diff)
	}
}

func TestEveryMetricIsExplained(t *testing.T) {
	for _, metric := range Metrics() {
		if !strings.HasSuffix(metric.Help, ".") || strings.ContainsAny(metric.Help, "\n\\") {
			t.Errorf("%s: %q is no sentence on one line", metric.Name, metric.Help)
		}
	}
}
