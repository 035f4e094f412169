package campaign

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

func TestParseSeeds(t *testing.T) {
	const form = `: use a number such as 17, a range whose last number is not below the first, such as 1..20, or new`
	tests := map[string]struct {
		text    string
		endless bool
		want    string
		wantErr string
	}{
		"one seed":                            {"17", false, "17", ""},
		"a seed and all that follow":          {"17", true, "17 and following", ""},
		"a range":                             {"1..20", false, "1..20", ""},
		"a range ends before the time does":   {"1..20", true, "1..20", ""},
		"no number is refused":                {"many", false, "", `seeds "many"` + form},
		"a range that goes down is refused":   {"5..1", false, "", `seeds "5..1"` + form},
		"a range without an end is refused":   {"5..", false, "", `seeds "5.."` + form},
		"a number that is too big is refused": {"99999999999999999999", false, "", `seeds "99999999999999999999"` + form},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			seeds, err := ParseSeeds(tc.text, tc.endless)
			if err != nil && err.Error() != tc.wantErr || err == nil && (tc.wantErr != "" || seeds.String() != tc.want) {
				t.Errorf("ParseSeeds(%q) = %s, %v, want %s, %s", tc.text, seeds, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestANewSeedCanBeRepeated(t *testing.T) {
	seeds, err := ParseSeeds(New, false)
	if err != nil || seeds.First != seeds.Last || seeds.First == 0 {
		t.Fatalf("ParseSeeds(new) = %v, %v, want one seed", seeds, err)
	}
	again, err := ParseSeeds(seeds.String(), false)
	if err != nil || again != seeds {
		t.Errorf("ParseSeeds(%s) = %v, %v, want the same seed", seeds, again, err)
	}
}

func TestASmallerPlan(t *testing.T) {
	step := func(do, cache string) plan.Step {
		return plan.Step{Do: do, Cache: cache, After: metav1.Duration{Duration: time.Second}}
	}
	large := plan.Plan{
		Seed: 7, Caches: []string{"a", "b"}, Slots: "DNS", Restart: true,
		Steps: []plan.Step{step("edit", "a"), step("kill", "b"), step("edit", "b"), step("cut", "a")},
	}
	kills := func(p plan.Plan) bool {
		return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Do == "kill" })
	}
	tests := map[string]struct {
		fails func(plan.Plan) bool
		want  plan.Plan
	}{
		"only the steps that are needed, and one Memcached": {
			kills, plan.Plan{Seed: 7, Caches: []string{"a"}, Slots: "DNS", Restart: true, Steps: []plan.Step{step("kill", "a")}},
		},
		"two Memcacheds where both are needed": {
			func(p plan.Plan) bool { return kills(p) && len(p.Caches) > 1 },
			plan.Plan{Seed: 7, Caches: []string{"a", "b"}, Slots: "DNS", Restart: true, Steps: []plan.Step{step("kill", "b")}},
		},
		"no step where none is needed": {
			func(plan.Plan) bool { return true }, plan.Plan{Seed: 7, Caches: []string{"a"}, Slots: "DNS", Restart: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, smaller(large, tc.fails)); diff != "" {
				t.Errorf("smaller (-want +got):\n%s", diff)
			}
			if large.Steps[1].Cache != "b" || !strings.HasPrefix(large.Steps[0].Do, "edit") {
				t.Error("the plan itself was changed")
			}
		})
	}
}

func allActions(t *testing.T) []actions.Action {
	t.Helper()
	all, err := Actions("../../..", plan.SimulatedNodes)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
