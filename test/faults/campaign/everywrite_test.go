package campaign

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/test/faults/actions"
)

func everyWrite(t *testing.T, pattern string) *EveryWrite {
	t.Helper()
	e, err := NewEveryWrite(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEveryWriteOfSomeChanges(t *testing.T) {
	for _, s := range everyWrite(t, "memory").series {
		if !strings.Contains(s.change.Name, "memory") {
			t.Errorf("%s, too", s.change.Name)
		}
	}
	for pattern, want := range map[string]string{"(": "--each (: error parsing", "memroy": "--each memroy: no change has this in its name, such as creation"} {
		if _, err := NewEveryWrite(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// killedAt returns how many plans e makes if the operator makes this number of writes after each change.
func killedAt(e *EveryWrite, writes map[string]int) (plans int) {
	for p := range e.Plans() {
		plans++
		of := e.series[int(p.Seed)%len(e.series)]
		result := Result{Seed: p.Seed, Plan: p}
		if of.met < writes[of.change.Name] {
			result.Effects = map[string]int{actions.KillAtWrite: 1}
		}
		e.Add(result)
	}
	return plans
}

func TestEveryWriteEndsAfterTheLastWriteOfEachChange(t *testing.T) {
	e := everyWrite(t, "")
	writes := map[string]int{}
	for _, change := range actions.Changes() {
		writes[change.Name] = 1
	}
	writes["creation"], writes[actions.Deletion] = 3, 0
	plans := killedAt(e, writes)
	if want := 3 * (4 + 2*(len(writes)-2) + 1); plans != want { // for 3 moments; the last plan of a series kills nothing
		t.Errorf("%d plans, want %d", plans, want)
	}
	if err := e.Err(); err != nil {
		t.Error(err)
	}
	if got, want := e.String(), "     3  creation, before it is sent\n"; !strings.Contains(got, want) {
		t.Errorf("summary %q has no %q", got, want)
	}
}

func TestEveryWriteFailsWhereAKillMeetsNone(t *testing.T) {
	e := everyWrite(t, "")
	killedAt(e, map[string]int{"creation": 3, "rollout by a change of the spec": 2})
	const want = "scale to 1 Pod, before it is sent: the operator wrote nothing, so it was never killed"
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestEveryWriteFailsWhereSomeWritesAreLeft(t *testing.T) {
	e := everyWrite(t, "")
	for p := range e.Plans() {
		e.Add(Result{Seed: p.Seed, Effects: map[string]int{actions.KillAtWrite: 1}})
	}
	const want = "creation, before it is sent: the operator had further writes after write 60, the last one at which it was killed"
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestAKillComesBetweenTheOperatorsRestAndTheChange(t *testing.T) {
	type step struct {
		do     string
		atRest bool
	}
	var got []step
	for _, s := range actions.Changes()[0].KilledAt(2, actions.Moments[1]) {
		got = append(got, step{s.Do, s.AtRest})
	}
	want := []step{
		{"delete the Memcached", true}, {actions.KillAtWrite, true},
		{"create the Memcached again", false}, {"create the Memcached again", true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestEveryWriteHasOnlyActionsOfTheCampaign(t *testing.T) {
	known := map[string]bool{}
	for _, action := range allActions(t) {
		known[action.Name] = true
	}
	for p := range everyWrite(t, "").Plans() {
		for _, step := range p.Steps {
			if !known[step.Do] {
				t.Fatalf("no action %q", step.Do)
			}
		}
	}
}

func TestEachActionIsTriedWhereItCanHaveAnEffect(t *testing.T) {
	tests := map[string][]string{
		"kill the operator":          {"kill the operator", "scale"},
		"resume":                     {"suspend", "resume", "scale"},
		"create the Memcached again": {"delete the Memcached", "create the Memcached again", "scale"},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			plans, err := Each(allActions(t), "^"+name+"$")
			if err != nil || len(plans) != 1 {
				t.Fatalf("%d plans, %v, want one", len(plans), err)
			}
			var got []string
			for _, step := range plans[0].Steps[:len(plans[0].Steps)/times] {
				got = append(got, step.Do)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("steps of a try (-want +got):\n%s", diff)
			}
			if plans[0].Steps[0].After.Duration != untilReady {
				t.Error("the Memcached has no time to become Ready")
			}
		})
	}
}
