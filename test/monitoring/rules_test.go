// Package monitoring holds the alerts and what brings them to Prometheus to what they claim: by promtool, by the types
// of the Prometheus Operator, and by the pages that state what to do.
package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/promtool"
)

const (
	repository = "../.."
	rulesFile  = repository + "/operator/config/monitoring/rules.yaml"
	fixtures   = "testdata/rules"
)

func TestPrometheusTakesTheRules(t *testing.T) {
	if out, ok := run(t, "check", "rules", "--lint-fatal", rulesFile); !ok {
		t.Error(out)
	}
}

func TestEachAlertFiresWhenItShouldAndNotOtherwise(t *testing.T) {
	t.Parallel()
	for _, alert := range alerts(t) {
		t.Run(alert.Alert, func(t *testing.T) {
			if out, ok := run(t, "test", "rules", fixture(alert.Alert)); !ok {
				t.Error(out)
			}
		})
	}
}

// TestTheFixturesNoticeABrokenAlert breaks each alert in a copy of the rules.
func TestTheFixturesNoticeABrokenAlert(t *testing.T) {
	t.Parallel()
	for how, change := range map[string]func(*monitoringv1.Rule){
		"never fires":     func(r *monitoringv1.Rule) { r.Expr.StrVal = "vector(1) > 2" },
		"always fires":    func(r *monitoringv1.Rule) { r.Expr.StrVal = "vector(1)" },
		"does not wait":   func(r *monitoringv1.Rule) { r.For = nil },
		"has no severity": func(r *monitoringv1.Rule) { delete(r.Labels, "severity") },
		"leads elsewhere": func(r *monitoringv1.Rule) { r.Annotations["runbook_url"] += "x" },
	} {
		for i, alert := range alerts(t) {
			if how == "does not wait" && alert.For == nil {
				continue
			}
			t.Run(alert.Alert+" "+how, func(t *testing.T) {
				broken := alerts(t)
				change(&broken[i])
				if _, ok := run(t, "test", "rules", withRules(t, fixture(alert.Alert), broken)); ok {
					t.Errorf("its fixture does not notice: let one cache of %s be well", fixture(alert.Alert))
				}
			})
		}
	}
}

func TestEachFixtureIsOfAnAlert(t *testing.T) {
	got, want := namesIn(t, fixtures), []string{}
	for _, alert := range alerts(t) {
		want = append(want, alert.Alert+".yaml")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fixtures (-alerts +files):\n%s", diff)
	}
}

// alerts are all rules of the file, each of which is one.
func alerts(t *testing.T) []monitoringv1.Rule {
	t.Helper()
	var spec monitoringv1.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict([]byte(page.Read(t, rulesFile)), &spec); err != nil {
		t.Fatal(err)
	}
	var all []monitoringv1.Rule
	for _, group := range spec.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(r monitoringv1.Rule) bool { return r.Alert == "" }) {
		t.Fatalf("%s: %d rules, of which some are no alerts", rulesFile, len(all))
	}
	return all
}

func fixture(alert string) string { return filepath.Join(fixtures, alert+".yaml") }

// withRules is a copy of a fixture for other rules.
func withRules(t *testing.T, fixture string, rules []monitoringv1.Rule) string {
	t.Helper()
	dir := t.TempDir()
	writeRules(t, filepath.Join(dir, "rules.yaml"), rules)
	text := strings.ReplaceAll(page.Read(t, fixture), "../../"+rulesFile, "rules.yaml")
	path := filepath.Join(dir, "test.yaml")
	write(t, path, text)
	return path
}

func writeRules(t *testing.T, path string, rules []monitoringv1.Rule) {
	t.Helper()
	groups := []monitoringv1.RuleGroup{{Name: "all", Rules: rules}}
	content, err := yaml.Marshal(monitoringv1.PrometheusRuleSpec{Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(content))
}

// fetching lets one test bring promtool for all.
var fetching sync.Mutex

// run returns what promtool says, and whether all was well.
func run(t *testing.T, arguments ...string) (string, bool) {
	t.Helper()
	fetching.Lock()
	path, err := promtool.Path(t.Context())
	fetching.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, arguments...).CombinedOutput()
	return string(out), err == nil
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func namesIn(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
