package actions

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
)

func TestTheSameSeedGivesTheSamePlan(t *testing.T) {
	for seed := range uint64(5) {
		if diff := cmp.Diff(planOf(t, seed, all(t)), planOf(t, seed, all(t))); diff != "" {
			t.Errorf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}

func planOf(t *testing.T, seed uint64, all []Action) plan.Plan {
	t.Helper()
	p, err := plan.New(seed, Plans(all))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEveryFieldIsChanged uses as many seeds as a campaign of some hours.
func TestEveryFieldIsChanged(t *testing.T) {
	s, err := schema.Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	changed, tried := exercised(t, s, 2200)
	for _, f := range s.Fields() {
		if f.IsLeaf() && !changed[f.Path] {
			t.Errorf("no valid change of %s", f.Path)
		}
	}
	for _, f := range s.Bounded() {
		if !slices.ContainsFunc(f.Breaches(), func(b schema.Breach) bool { return tried[b.Field.Path+" "+b.What] }) {
			t.Errorf("no invalid value of %s", f.Path)
		}
	}
}

// exercised returns the fields that the plans of the first seeds set, and the violations of the schema that they try.
func exercised(t *testing.T, s *schema.Schema, seeds uint64) (changed, tried map[string]bool) {
	t.Helper()
	all := All(s)
	changed, tried = map[string]bool{}, map[string]bool{}
	for seed := uint64(1); seed <= seeds; seed++ {
		for _, step := range planOf(t, seed, all).Steps {
			var with struct {
				Spec  map[string]any
				Tries []try
			}
			if len(step.With) == 0 || !strings.Contains(string(step.With), `"spec"`) {
				continue
			}
			if err := json.Unmarshal(step.With, &with); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
			maps.Copy(changed, s.Set(with.Spec))
			for _, try := range with.Tries {
				tried[try.Field+" "+try.Breach] = true
			}
		}
	}
	return changed, tried
}

// newField is a field that the CRD does not have yet.
const newField = `
              spare:
                description: spare are Pods that wait. Defaults to 3.
                type: integer
                minimum: 2
                maximum: 7
                x-kubernetes-validations:
                - rule: self != 5
                  message: spare must not be 5
`

func TestANewFieldIsExercised(t *testing.T) {
	crd, err := schema.CRD("../../..")
	if err != nil {
		t.Fatal(err)
	}
	const before = "\n              suspend:\n"
	if strings.Count(string(crd), before) != 1 {
		t.Fatalf("the CRD does not have %q once", before)
	}
	s, err := schema.Parse([]byte(strings.Replace(string(crd), before, strings.TrimRight(newField, "\n")+before, 1)))
	if err != nil {
		t.Fatal(err)
	}
	changed, tried := exercised(t, s, 2200)
	if !changed["spec.spare"] {
		t.Error("no valid change")
	}
	want := []string{"spec.spare above the maximum", "spec.spare against rule 1", "spec.spare below the minimum"}
	maps.DeleteFunc(tried, func(name string, _ bool) bool { return !slices.Contains(want, name) })
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(tried))); diff != "" {
		t.Errorf("breaches (-want +got):\n%s", diff)
	}
}
