package agent

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
	"github.com/example-inc/memcached-operator/operator/internal/agent/report"
)

var update = flag.Bool("update", false, "write the tables of docs/agent.md again")

const agentPage = "../../../docs/agent.md"

func TestTheDocsListEveryFlagAndMetric(t *testing.T) {
	page.Tables(t, agentPage, *update, map[string]string{"flags": flagTable(), "metrics": metricTable()})
}

func flagTable() string {
	flags := pflag.NewFlagSet("agent", pflag.ContinueOnError)
	NewOptions().AddFlags(flags)
	var table bytes.Buffer
	table.WriteString("| flag | default | meaning |\n| --- | --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		value := ""
		if f.DefValue != "" {
			value = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(&table, "| `--%s` | %s | %s |\n", f.Name, value, f.Usage)
	})
	return table.String()
}

func metricTable() string {
	metrics := slices.Concat(exporter.Metrics(), ownMetrics(), report.Metrics())
	slices.SortFunc(metrics, func(a, b *exporter.Metric) int { return strings.Compare(a.Name, b.Name) })
	var table bytes.Buffer
	totals := exporter.Totals()
	table.WriteString("| metric | type | labels | total | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, metric := range metrics {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n",
			metric.Name, metric.Kind, strings.Join(metric.Labels, ", "), totals[metric], metric.Help)
	}
	return table.String()
}

// TestTheQueriesOfTheDocsAreOfMetricsThatExist looks at every name of a metric in the table of queries.
func TestTheQueriesOfTheDocsAreOfMetricsThatExist(t *testing.T) {
	content, err := os.ReadFile(agentPage)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, metric := range append(exporter.Metrics(), ownMetrics()...) {
		known[metric.Name] = true
	}
	_, queries, _ := strings.Cut(string(content), "| question | query |")
	queries, _, _ = strings.Cut(queries, "\n#")
	found := 0
	for _, word := range strings.FieldsFunc(queries, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		if strings.HasPrefix(word, "memcached_") {
			found++
			if !known[word] {
				t.Errorf("there is no %s", word)
			}
		}
	}
	if found == 0 {
		t.Error("the page has no queries")
	}
}
