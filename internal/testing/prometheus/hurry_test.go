package prometheus

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTimePassesFasterForHurriedRules(t *testing.T) {
	const rules = `groups:
- interval: 5m
  name: all
  rules:
  - expr: quantile_over_time(0.5, ratio:rate5m[1d] offset 1h)
    record: usual
  - alert: Fell
    expr: avg_over_time(ratio:rate5m[30m]) < usual - 7 * 86400
    for: 15m
`
	got, err := Hurried([]byte(rules), 30)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("interval: 5m", "interval: 10s", "[1d]", "[48m]", "offset 1h", "offset 2m", "[30m]", "[1m]",
		"for: 15m", "for: 30s").Replace(rules)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestPrometheusTakesTheHurriedRulesOfTheOperator(t *testing.T) {
	rules, err := os.ReadFile("../../../operator/config/monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	hurried, err := Hurried(rules, 30)
	if err != nil {
		t.Fatal(err)
	}
	if left := regexp.MustCompile(`(\[|for: |offset )(15m|30m|1h|1d)`).FindAllString(string(hurried), -1); left != nil {
		t.Errorf("as slow as before: %q", left)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, hurried, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool, err := Path(t.Context(), Promtool)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
