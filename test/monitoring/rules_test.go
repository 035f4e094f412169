// Package monitoring holds the alerts and what brings them to Prometheus to what they claim: by promtool, by the types
// of the Prometheus Operator, and by the pages that state what to do.
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

// TestEachFixtureHasSilenceAndAnAlert keeps a fixture from proving only half.
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

// alerts are the rules of the file that alert.
func alerts(t *testing.T) []monitoringv1.Rule {
	t.Helper()
	return slices.DeleteFunc(rules(t), func(r monitoringv1.Rule) bool { return r.Alert == "" })
}

// recorded are the names of the series that the file's other rules make.
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

// fetching lets one test bring promtool for all.
var fetching sync.Mutex

// run returns what promtool says, and whether all was well.
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
