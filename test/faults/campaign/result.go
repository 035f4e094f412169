package campaign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/model"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// Result is the result of a plan.
type Result struct {
	Seed       uint64
	Plan       plan.Plan
	Effects    map[string]int // number of steps that had an effect, by action
	Requests   int            // number of requests of the operator
	Violations []model.Violation

	// Shrunk is the smallest plan found that breaks the rule of the first violation, and Runs is how many runs this took.
	// Again says whether the original plan broke the rule again.
	Shrunk *plan.Plan
	Runs   int
	Again  bool

	Dir     string // the folder with the files of a run with violations
	History *history.History
}

// Breaks reports whether the run violated a rule.
func (r Result) Breaks(rule string) bool {
	return slices.ContainsFunc(r.Violations, func(v model.Violation) bool { return v.Rule == rule })
}

// save writes the files that a person needs to look into a run with violations.
func (r Result) save() error {
	for name, value := range map[string]any{PlanFile: r.Plan, "violations.json": r.Violations} {
		if err := r.write(name, value); err != nil {
			return err
		}
	}
	return r.History.Save(filepath.Join(r.Dir, HistoryFile))
}

// These are the files with the plans, and with the history.
const (
	PlanFile    = "plan.json"
	ShrunkFile  = "shrunk.json"
	HistoryFile = "history.json"
)

func (r Result) write(name string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.Dir, name), append(content, '\n'), 0o600)
}

// ReadPlan reads a plan that was saved.
func ReadPlan(path string) (p plan.Plan, err error) {
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &p)
	}
	return p, err
}

// requests counts the operator's requests: the writes that stored a state, and all other requests.
func requests(h *history.History) int {
	count := 0
	for _, entry := range h.Entries {
		by := entry.Request
		if entry.State != nil {
			by = entry.State.By
		}
		if by != nil && by.User.Username == h.Operator {
			count++
		}
	}
	return count
}
