// Package mutants are operators with a deliberate fault each. The campaign has to find every mutant. This proves that
// the campaign's plans reach the faulty code, and that the model's rules detect the fault.
package mutants

import (
	"iter"
	"regexp"
	"slices"

	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/variants"
)

// Mutant is an operator with a fault.
type Mutant struct {
	// Name says what the operator does wrong: "ignores spec.suspend".
	Name string

	// Rule is the rule of the model that is expected to find the mutant. Another rule may be faster.
	Rule string

	// Needs are the actions without which the mutant does the same as the operator: each regular expression matches the
	// name of a step, in this order. Plans are drawn with more of these actions.
	Needs []string

	// FixedByRestart is set if a restart of the operator corrects what it did wrong. Then the mutant's plans have no
	// restart.
	FixedByRestart bool

	Edits []variants.Edit
}

// All returns every mutant, in the order of the documentation.
func All() []Mutant { return slices.Concat(ownership(), rollouts(), statuses(), writes(), memories()) }

// These are the files that edits change.
const (
	adoptFile      = "operator/internal/apply/adopt.go"
	answerFile     = "operator/internal/apply/answer.go"
	applyFile      = "operator/internal/apply/apply.go"
	createFile     = "operator/internal/apply/create.go"
	removeFile     = "operator/internal/apply/remove.go"
	deploymentFile = "operator/internal/render/deployment.go"
	canonicalFile  = "operator/internal/render/canonical.go"
	draftFile      = "operator/internal/plan/draft.go"
	recordFile     = "operator/internal/plan/record.go"
	statusFile     = "operator/internal/status/status.go"
	checksFile     = "operator/internal/status/checks.go"
	controllerFile = "operator/internal/controller/controller.go"
	statusesFile   = "operator/internal/controller/statuses.go"
	watchesFile    = "operator/internal/controller/watches.go"
	paceFile       = "operator/internal/pace/pace.go"
	secretsFile    = "operator/internal/secrets/memory.go"
)

// replace is an edit of a file.
func replace(file, old, by string) []variants.Edit {
	return []variants.Edit{{File: file, Old: old, New: by}}
}

// Plans returns those of the plans that may show the mutant.
func (m Mutant) Plans(all iter.Seq[plan.Plan]) iter.Seq[plan.Plan] {
	return func(yield func(plan.Plan) bool) {
		for p := range all {
			p.Restart = p.Restart && !m.FixedByRestart
			if m.MayShow(p) && !yield(p) {
				return
			}
		}
	}
}

// Focus makes the actions that the mutant needs as likely as all actions together, each need as likely as another.
// Otherwise it would take hundreds of seeds until a plan has the rarer of these actions in the right order. Plans with
// only these actions would have no surprising combinations.
func (m Mutant) Focus(all []actions.Action) []actions.Action {
	focused := slices.Clone(all)
	for _, need := range m.Needs {
		name := regexp.MustCompile("^(" + need + ")$")
		sum, needed := 0, 0
		for _, action := range all {
			sum += action.Weight
			if name.MatchString(action.Name) {
				needed += action.Weight
			}
		}
		for i, action := range all {
			if name.MatchString(action.Name) {
				focused[i].Weight += action.Weight * sum / (needed * len(m.Needs))
			}
		}
	}
	return focused
}

// MayShow reports whether a plan has what the mutant needs. A plan that does not have it need not be carried out.
func (m Mutant) MayShow(p plan.Plan) bool {
	needs := m.Needs
	for _, step := range p.Steps {
		if len(needs) > 0 && regexp.MustCompile("^("+needs[0]+")$").MatchString(step.Do) {
			needs = needs[1:]
		}
	}
	return len(needs) == 0
}
