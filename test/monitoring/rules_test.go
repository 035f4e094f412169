// Package monitoring tests the alerts, the dashboards, and the objects that bring them to Prometheus. It uses promtool
// and the types of the Prometheus Operator, and compares them with the pages that state what to do.
package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/internal/testing/prometheus"
	"github.com/example-inc/memcached-operator/internal/testing/tree"
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
			if out, ok := run(t, "test", "rules", filepath.Join(fixtures, alert.Alert+".yaml")); !ok {
				t.Error(out)
			}
		})
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

// TestEachFixtureHasSilenceAndAnAlert checks that each fixture has a time at which the alert fires, and one at which it
// does not.
func TestEachFixtureHasSilenceAndAnAlert(t *testing.T) {
	for _, alert := range alerts(t) {
		var fixture struct {
			Tests []struct {
				Cases []struct {
					Alert  string `json:"alertname"`
					Alerts []any  `json:"exp_alerts"`
				} `json:"alert_rule_test"`
			} `json:"tests"`
		}
		if err := yaml.Unmarshal([]byte(page.Read(t, filepath.Join(fixtures, alert.Alert+".yaml"))), &fixture); err != nil {
			t.Fatal(err)
		}
		seen := map[bool]bool{}
		for _, test := range fixture.Tests {
			for _, tc := range test.Cases {
				if tc.Alert == alert.Alert {
					seen[len(tc.Alerts) > 0] = true
				}
			}
		}
		if !seen[true] || !seen[false] {
			t.Errorf("%s.yaml needs a time at which the alert fires, and one at which it does not", alert.Alert)
		}
	}
}

// alerts returns the alerting rules of the file.
func alerts(t *testing.T) []monitoringv1.Rule {
	t.Helper()
	return slices.DeleteFunc(rules(t), func(r monitoringv1.Rule) bool { return r.Alert == "" })
}

// recorded returns the names of the series that the recording rules of the file make.
func recorded(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, rule := range rules(t) {
		if rule.Alert == "" {
			names = append(names, rule.Record)
		}
	}
	return names
}

func rules(t *testing.T) []monitoringv1.Rule {
	t.Helper()
	var spec monitoringv1.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict([]byte(page.Read(t, rulesFile)), &spec); err != nil {
		t.Fatal(err)
	}
	var all []monitoringv1.Rule
	for _, group := range spec.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no rules", rulesFile)
	}
	return all
}

func writeRules(t *testing.T, path string, rules []monitoringv1.Rule) {
	t.Helper()
	groups := []monitoringv1.RuleGroup{{Name: "all", Rules: rules}}
	content, err := yaml.Marshal(monitoringv1.PrometheusRuleSpec{Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	tree.Write(t, filepath.Dir(path), map[string]string{filepath.Base(path): string(content)})
}

// fetching ensures that only one test downloads promtool, for all of them.
var fetching sync.Mutex

// run runs promtool, and returns its output, and whether it succeeded.
func run(t testing.TB, arguments ...string) (string, bool) {
	t.Helper()
	fetching.Lock()
	path, err := prometheus.Path(t.Context(), prometheus.Promtool)
	fetching.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, arguments...).CombinedOutput()
	return string(out), err == nil
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
