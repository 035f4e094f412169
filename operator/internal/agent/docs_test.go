package agent

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/operator/internal/agent/exporter"
)

var update = flag.Bool("update", false, "write the tables of docs/agent.md anew")

const page = "../../../docs/agent.md"

func TestTheDocsTellEveryFlagAndMetric(t *testing.T) {
	before, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	after := replace(t, replace(t, string(before), "flags", flagTable()), "metrics", metricTable())
	if *update {
		if err := os.WriteFile(page, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(after, string(before)); diff != "" && !*update {
		t.Errorf("run make generate (-want +got):\n%s", diff)
	}
}

// replace writes a table between the marks of its name.
func replace(t *testing.T, text, name, table string) string {
	t.Helper()
	mark := "<!-- " + name + ": written by make generate -->\n"
	head, rest, found := strings.Cut(text, mark)
	_, tail, ended := strings.Cut(rest, "<!-- end -->")
	if !found || !ended {
		t.Fatalf("%s has no place for %s", page, name)
	}
	return head + mark + table + "<!-- end -->" + tail
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
	metrics := append(exporter.Metrics(), ownMetrics()...)
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

// TestTheQueriesOfTheDocsAreOfMetricsThatExist looks at every name in the page.
func TestTheQueriesOfTheDocsAreOfMetricsThatExist(t *testing.T) {
	content, err := os.ReadFile(page)
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
