package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const printed = `Warning: a line of the library
{"at": 10, "reads": 500, "misses": 500, "errors": 2, "wrong": 0, "longest": 90, "error": "no server", "start": true, "version": "lib 1"}
{"at": 11, "reads": 90, "misses": 0, "errors": 1, "wrong": 0, "longest": 20, "error": "closed"}
{"at": 12, "reads": 80, "misses": 3, "errors": 0, "wrong": 1, "longest": 40, "error": ""}
{"at": 13, "reads": 80, "misses": 0, "errors": 0, "wrong": 0, "longest": 10, "error": ""}
{"at": 14, "reads": 70, "misses": 0, "errors": 0, "wrong": 0, "longest": 5, "error": ""}
`

func TestAPhaseHasTheSecondsBetweenItsBeginAndItsEnd(t *testing.T) {
	phase := Phase{Began: time.Unix(9, 0), Ended: time.Unix(12, 0)}
	got := phase.Of(Parse([]byte(printed)))
	want := Seen{Reads: 170, Misses: 3, Errors: 1, Wrong: 1, Longest: 40, Error: "closed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAClientHasRecoveredAfterThreeSecondsWithoutErrors(t *testing.T) {
	lines := Parse([]byte(printed))
	for since, want := range map[int64]bool{11: true, 12: true, 13: false} {
		if got := Recovered(lines, time.Unix(since, 0)); got != want {
			t.Errorf("recovered since %d: %t", since, got)
		}
	}
	if Recovered(lines[:4], time.Unix(0, 0)) {
		t.Error("an error is among the last three seconds")
	}
}

func TestGoals(t *testing.T) {
	tests := map[string]struct {
		phase  string
		seen   Seen
		misses string // the goal that is missed
	}{
		"an error for each connection":       {Rollout, Seen{Errors: 3}, ""},
		"more errors than connections":       {Rollout, Seen{Errors: 4}, "errors"},
		"an error where no Pod was replaced": {ScaledUp, Seen{Errors: 1}, "errors"},
		"a miss":                             {Evicted, Seen{Misses: 1}, "misses"},
		"misses of a killed Pod":             {Killed, Seen{Misses: 150, Errors: 40}, ""},
		"a wrong value":                      {Killed, Seen{Wrong: 1}, "wrong values"},
		"a request of more than a second":    {Killed, Seen{Longest: 1001}, "milliseconds"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(Result{Phases: map[string]Seen{tc.phase: tc.seen}}.Failures(), "\n")
			if (got == "") != (tc.misses == "") || !strings.Contains(got, tc.misses) {
				t.Errorf("failures: %q, want %q", got, tc.misses)
			}
		})
	}
}

func TestAClientThatLearnsOfANewServerMayMissTheKeysThatMove(t *testing.T) {
	tests := map[string]struct {
		seen   Seen
		misses bool // whether the client misses the goal
	}{
		ScaledUp:   {Seen{Misses: 130}, false},
		ScaledDown: {Seen{Misses: 130}, false},
		Rollout:    {Seen{Misses: 1}, true},
		Evicted:    {Seen{Errors: 2}, true},
	}
	for phase, tc := range tests {
		failures := Result{Client: Client{Discover: true}, Phases: map[string]Seen{phase: tc.seen}}.Failures()
		if got := len(failures) > 0; got != tc.misses {
			t.Errorf("%s: %q", phase, failures)
		}
	}
}

func TestTheFileOfEachClientExists(t *testing.T) {
	for _, client := range All {
		if _, err := os.Stat(filepath.Join("../../../test", Folder, client.Program, client.File)); err != nil {
			t.Error(err)
		}
		if len(client.Command()) == 0 {
			t.Errorf("%s has no program", client.Name)
		}
		if client.Recipe == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join("../../../docs/recipes", client.Recipe)); err != nil {
			t.Error(err)
		}
	}
}
