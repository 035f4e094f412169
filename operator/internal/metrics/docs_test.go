package metrics

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/example-inc/memcached-operator/internal/testing/page"
)

var update = flag.Bool("update", false, "write the table of docs/monitoring.md again")

func TestTheDocsListEveryMetric(t *testing.T) {
	page.Tables(t, "../../../docs/monitoring.md", *update, map[string]string{"metrics": table(t)})
}

func table(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	New(registry)
	NewMemcacheds(registry, nil).begin()
	NewUpdates(registry, func() Updates { return Updates{} })
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	table.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, family := range families {
		var labels []string
		for _, label := range family.Metric[0].Label {
			labels = append(labels, label.GetName())
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", family.GetName(), strings.ToLower(family.GetType().String()),
			strings.Join(labels, ", "), family.GetHelp())
	}
	return table.String()
}

// reasonsOfReady returns the reasons of the condition Ready: the constants in the block of the API whose comment says
// so.
func reasonsOfReady(t *testing.T) (reasons []string) {
	t.Helper()
	for _, reason := range page.Constants(t, "../../api/v1", "Reasons of the Ready condition.") {
		reasons = append(reasons, reason.Value)
	}
	return reasons
}
