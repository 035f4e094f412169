package monitoring

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/dashboards"
	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
	"github.com/example-inc/memcached-operator/scripts/kustomize"
)

const (
	monitoringPage = repository + "/docs/monitoring.md"
	runbooks       = repository + "/docs/runbooks"
)

// published matches the URL of a published page: on the branch or, once make release-prepare has written a version, on
// its tag.
var published = regexp.MustCompile(
	`^https://github\.com/example-inc/memcached-operator/blob/(main|v[0-9][^/]*)/docs/runbooks/(\w+\.md)$`)

func TestEachAlertHasItsPageAndEachPageItsAlert(t *testing.T) {
	got, want := namesIn(t, runbooks), []string{}
	for _, alert := range alerts(t) {
		name := alert.Alert + ".md"
		want = append(want, name)
		url := alert.Annotations["runbook_url"]
		if found := published.FindStringSubmatch(url); found == nil || found[2] != name {
			t.Errorf("%s leads to %s, not to %s", alert.Alert, url, name)
		}
		if !slices.Contains([]string{"warning", "critical"}, alert.Labels["severity"]) {
			t.Errorf("%s is of the severity %q, and not warning or critical", alert.Alert, alert.Labels["severity"])
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-alerts +files):\n%s", diff)
	}
}

func TestTheDocsListEveryAlert(t *testing.T) {
	table := "| alert | severity | after | means |\n| --- | --- | --- | --- |\n"
	for _, alert := range alerts(t) {
		after := "immediately"
		if alert.For != nil {
			after = string(*alert.For)
		}
		table += fmt.Sprintf("| [%s](runbooks/%[1]s.md) | %s | %s | %s |\n", alert.Alert, alert.Labels["severity"], after, meaning(t, alert.Alert))
	}
	page.Tables(t, monitoringPage, *update, map[string]string{"alerts": table})
}

func TestTheDocsListEverySeriesThatIsRecorded(t *testing.T) {
	text := page.Read(t, monitoringPage)
	for _, name := range recorded(t) {
		if !strings.Contains(text, "\n| `"+name+"` | ") {
			t.Errorf("%s does not have %s", monitoringPage, name)
		}
	}
}

// meaning returns the first paragraph of an alert's page.
func meaning(t *testing.T, alert string) string {
	t.Helper()
	title, rest, _ := strings.Cut(page.Read(t, filepath.Join(runbooks, alert+".md")), "\n\n")
	meaning, _, _ := strings.Cut(rest, "\n\n")
	if title != "# "+alert || strings.HasPrefix(meaning, "#") || meaning == "" {
		t.Errorf("%s.md does not begin with its name and what it means", alert)
	}
	return strings.ReplaceAll(meaning, "\n", " ")
}

func TestTheFirstThingToTypeIsACommandOfThePlugin(t *testing.T) {
	first := regexp.MustCompile("(?m)^## Look\n\n```sh\nkubectl memcached (slabs|status|top|why) (sessions -n team|-A) ")
	for _, name := range namesIn(t, runbooks) {
		if text := page.Read(t, filepath.Join(runbooks, name)); !first.MatchString(text) {
			t.Errorf("the first block of %s has no command of kubectl memcached", name)
		}
	}
}

func TestPrometheusTakesTheQueriesOfTheDocs(t *testing.T) {
	var rules []monitoringv1.Rule
	for where, queries := range queriesOfDocs(t) {
		for i, query := range queries {
			rules = append(rules, monitoringv1.Rule{
				Record: strings.ReplaceAll(fmt.Sprintf("%s:%d", where, i), ".", ":"), Expr: intstr.FromString(query),
			})
		}
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	writeRules(t, path, rules)
	if out, ok := run(t, "check", "rules", path); !ok {
		t.Error(out)
	}
}

var (
	metricRow  = regexp.MustCompile("(?m)^\\| `((?:memcached_operator_|memcached_)\\w+)` \\| (\\w+) \\|")
	metricName = regexp.MustCompile(`\b(?:memcached[_:][\w:]+|` + strings.Join(ofLibraries, "|") + `)\b`)
)

// ofLibraries are metrics of Prometheus, controller-runtime, client-go and the process. An end-to-end test reads them
// from the operator itself.
var ofLibraries = []string{
	"up", "leader_election_master_status", "rest_client_requests_total",
	"workqueue_depth", "workqueue_longest_running_processor_seconds",
	"process_resident_memory_bytes", "process_cpu_seconds_total",
}

func TestTheQueriesAreOfMetricsThatExist(t *testing.T) {
	known := map[string]bool{"memcached_cr": true}
	for _, name := range append(recorded(t), ofLibraries...) {
		known[name] = true
	}
	for _, table := range []string{repository + "/docs/agent.md", monitoringPage} {
		for _, row := range metricRow.FindAllStringSubmatch(page.Read(t, table), -1) {
			known[row[1]] = true
			if row[2] == "histogram" {
				known[row[1]+"_bucket"] = true
			}
		}
	}
	queries := queriesOfDocs(t)
	for _, rule := range rules(t) {
		name := rule.Alert + rule.Record
		queries[name] = append(queries[name], rule.Expr.StrVal)
	}
	for file, read := range readDashboards(t) {
		for _, query := range append(dashboards.Queries(read), dashboards.VariableQueries(read)...) {
			queries[file] = append(queries[file], query.Expr)
		}
	}
	for where, queries := range queries {
		for _, query := range queries {
			names := metricName.FindAllString(query, -1)
			if len(names) == 0 {
				t.Errorf("%s: %s is not the name of a metric", where, query)
			}
			for _, name := range names {
				if !known[name] {
					t.Errorf("%s: there is no %s", where, name)
				}
			}
		}
	}
}

var (
	queryBlock = regexp.MustCompile("(?s)```promql\n(.*?)```")
	queryCell  = regexp.MustCompile("(?m)^\\| .* \\| `([^`]+)` \\|$")
)

// queriesOfDocs returns the queries in the table of docs/monitoring.md, and in the code blocks of the runbooks, by
// page.
func queriesOfDocs(t *testing.T) map[string][]string {
	t.Helper()
	queries := map[string][]string{}
	_, table, _ := strings.Cut(page.Read(t, monitoringPage), "| question | query |")
	for _, row := range queryCell.FindAllStringSubmatch(table, -1) {
		queries["page"] = append(queries["page"], row[1])
	}
	for _, alert := range alerts(t) {
		blocks := queryBlock.FindAllStringSubmatch(page.Read(t, filepath.Join(runbooks, alert.Alert+".md")), -1)
		for _, block := range blocks {
			queries[alert.Alert] = append(queries[alert.Alert], split(block[1])...)
		}
		if len(blocks) == 0 {
			t.Errorf("%s.md has no query by which a reader can investigate the alert", alert.Alert)
		}
	}
	if len(queries["page"]) == 0 {
		t.Errorf("%s has no queries", monitoringPage)
	}
	return queries
}

// split returns the queries of a block. Each query is a line, together with the indented lines that follow it.
func split(block string) []string {
	var queries []string
	for line := range strings.Lines(block) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " ") && len(queries) > 0:
			queries[len(queries)-1] += line
		default:
			queries = append(queries, line)
		}
	}
	return queries
}

func TestPrometheusTakesTheConfigurationOfTheDocs(t *testing.T) {
	_, rest, found := strings.Cut(page.Read(t, monitoringPage), "```yaml\nrule_files:")
	config, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatalf("%s has no configuration of Prometheus", monitoringPage)
	}
	var content map[string]any
	if err := yaml.UnmarshalStrict([]byte("rule_files:"+config), &content); err != nil {
		t.Fatal(err)
	}
	for _, job := range content["scrape_configs"].([]any) {
		delete(job.(map[string]any), "kubernetes_sd_configs") // Debian's promtool is built without it.
	}
	judged, err := yaml.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tree.Write(t, dir, map[string]string{"rules.yaml": page.Read(t, rulesFile), "prometheus.yml": string(judged)})
	if out, ok := run(t, "check", "config", "--syntax-only", filepath.Join(dir, "prometheus.yml")); !ok {
		t.Error(out)
	}
}

// TestRunbooksCanBeOnAMirror builds the overlay that the page shows for a mirror of the runbooks.
func TestRunbooksCanBeOnAMirror(t *testing.T) {
	text := page.Read(t, monitoringPage)
	replacements := page.Find(t, text, "(?s)```yaml\n[^`]*operator/config/monitoring\n(replacements:.*?)```")
	mirror := page.Find(t, replacements, `sourceValue: (\S+)`)
	manifest, err := kustomize.Manifest(folder(t, "resources: [ROOT/operator/config/monitoring]\n"+replacements))
	if err != nil {
		t.Fatal(err)
	}
	for _, alert := range alerts(t) {
		if want := "runbook_url: " + mirror + "/docs/runbooks/" + alert.Alert + ".md\n"; !strings.Contains(manifest, want) {
			t.Errorf("the overlay has no %s", want)
		}
	}
}
