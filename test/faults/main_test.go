package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/test/faults/campaign"
	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/model"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

func TestWrongFlagsAreRefusedBeforeAnythingStarts(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"no seed":                {"run --seeds none", `--seeds "none": use a number such as 17, a range whose last number is not below the first, such as 1..20, or new`},
		"a negative time":        {"run --minutes -1", "--minutes -1: use 0, which is no limit, or more"},
		"a negative search":      {"run --shrink-minutes -1", "--shrink-minutes -1: use 0 or more"},
		"no worker":              {"run --workers 0", "--workers 0: use at least 1"},
		"no run":                 {"run --repeat 0", "--repeat 0: use at least 1"},
		"a plan without a file":  {"run --plan none.json", "open none.json: no such file or directory"},
		"an unknown mutant":      {"run --mutant none", `no mutant "none": docs/reliability.md lists them`},
		"no such action":         {"run --each none", `no action has a name that matches "none"`},
		"an argument of nothing": {"run 17", `unknown command "17" for "faults run"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			command := command()
			command.SetArgs(strings.Fields(tc.args))
			if err := command.ExecuteContext(t.Context()); err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestASavedPlanIsReadAgain(t *testing.T) {
	all, err := campaign.Actions("../..", plan.SimulatedNodes)
	if err != nil {
		t.Fatal(err)
	}
	want, err := campaign.Plan(7, all)
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), campaign.PlanFile)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := campaign.ReadPlan(file)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("plan, error %v (-want +got):\n%s", err, diff)
	}
}

// broken returns the result of a seed whose run violated a rule.
func broken() campaign.Result {
	return campaign.Result{
		Seed: 17, Dir: "dir", Runs: 9, Again: true,
		Plan:       plan.Plan{Seed: 17, Steps: []plan.Step{{Do: "edit", Cache: "a"}, {Do: "kill", Cache: "b"}}},
		Shrunk:     &plan.Plan{Seed: 17, Steps: []plan.Step{{Do: "kill", Cache: "b"}}},
		Violations: []model.Violation{{Rule: "a rule", Entry: 1, What: "it does not hold"}},
		History:    &history.History{Entries: []history.Entry{{Step: "first"}, {Step: "second"}, {Step: "third"}}},
	}
}

func TestAFailureIsPrintedWithWhatRepeatsIt(t *testing.T) {
	var out strings.Builder
	show, result := newPrinter(&out, runFlags{}), broken()
	show.result(campaign.Result{Seed: 16}) // There is nothing to report about it.
	show.result(result)
	show.shrunk(result)
	result.Shrunk, result.Again = nil, false
	show.shrunk(result)
	const want = `

Seed 17 broke a rule.

a rule
a rule: it does not hold
  00:00:00.000 == first
  00:00:00.000 == second

Repeat it: make faults SEED=17
Plan, history and the operator's log: dir



1 of the 2 steps of seed 17 are enough to break "a rule" (9 runs):
  after 0s: kill (b) 
Repeat them: go run ./test/faults run --plan dir/shrunk.json



Seed 17 broke "a rule" only once: 9 more runs of its plan did not. Try more:
  go run ./test/faults run --plan dir/plan.json --repeat 20

`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestAPlanThatNoSeedDrewIsRepeatedFromItsFile(t *testing.T) {
	for name, flags := range map[string]runFlags{
		"each action": {each: "kill"}, "every write": {everyWrite: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			newPrinter(&out, flags).result(broken())
			const want = "Repeat it: go run ./test/faults run --plan dir/plan.json\n"
			if !strings.Contains(out.String(), want) {
				t.Errorf("printed %q, want %q in it", out.String(), want)
			}
		})
	}
}

func TestOnlyAnActionThatNeverHadAnEffectIsAnError(t *testing.T) {
	totals := campaign.NewTotals()
	totals.Add(campaign.Result{
		Effects: map[string]int{"kill": 1}, Plan: plan.Plan{Steps: []plan.Step{{Do: "kill"}, {Do: "kill"}}},
	})
	if err := haveEffects(totals); err != nil {
		t.Error(err)
	}
	totals.Add(campaign.Result{Plan: plan.Plan{Steps: []plan.Step{{Do: "edit"}, {Do: "kill"}, {Do: "cut"}}}})
	const want = "these actions never had an effect: cut; edit"
	if err := haveEffects(totals); err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestTheCommandThatRepeatsASeed(t *testing.T) {
	tests := map[string]struct {
		printer printer
		want    string
	}{
		"on simulated Nodes": {printer{}, "make faults SEED=17"},
		"on a real Node":     {printer{onReal: true}, "make faults-cluster SEED=17"},
		"of a mutant":        {printer{mutant: "is slow"}, `make faults SEED=17 ARGS="--mutant 'is slow'"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.printer.repeat(17); got != tc.want {
				t.Errorf("repeat = %s, want %s", got, tc.want)
			}
		})
	}
}
