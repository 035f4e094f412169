package actions

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
)

// all returns the actions of a campaign.
func all(t *testing.T) []Action {
	t.Helper()
	s, err := schema.Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return All(s)
}

func TestEachActionHasItsOwnNameAndAWeight(t *testing.T) {
	names := map[string]bool{}
	for _, action := range all(t) {
		if action.Name == "" || names[action.Name] || action.Weight < 1 || action.Do == nil {
			t.Errorf("%q: a name of another action, no weight, or nothing to do", action.Name)
		}
		names[action.Name] = true
	}
}

// TestAStepIsThatOfItsSeed draws each step again from its seed. It also encodes and decodes each step, as in a saved
// plan.
func TestAStepIsThatOfItsSeed(t *testing.T) {
	all := all(t)
	for _, action := range Plans(all) {
		for seed := range uint64(30) {
			draw := func() string {
				r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same seed must give the same step
				step, err := plan.Draw(r, []plan.Action{action}, []string{"a"})
				if err != nil {
					t.Fatal(err)
				}
				return encode(t, step)
			}
			drawn := draw()
			if diff := cmp.Diff(drawn, draw()); diff != "" {
				t.Errorf("%q, seed %d (-first +second):\n%s", action.Name, seed, diff)
			}
			step := plan.Step{}
			if err := json.Unmarshal([]byte(drawn), &step); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(drawn, encode(t, step)); diff != "" {
				t.Errorf("%q, seed %d (-drawn +read):\n%s", action.Name, seed, diff)
			}
		}
	}
}

func encode(t *testing.T, step plan.Step) string {
	t.Helper()
	content, err := json.Marshal(step)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
