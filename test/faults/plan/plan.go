// Package plan draws the steps of a run from a seed. The same seed, actions and schema give the same plan, on every
// machine.
package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example-inc/memcached-operator/internal/testing/reporting"
)

// Plan has the steps of one run, and its settings.
type Plan struct {
	Seed uint64 `json:"seed"`

	// Caches are the names of the Memcacheds, created in this order before the first step.
	Caches []string `json:"caches"`

	// Slots is the spec.slots.mode of the Memcacheds at the beginning. If it is empty, they have no slots.
	Slots string `json:"slots,omitempty"`

	// Acts are the Memcacheds whose memory follows their use at the beginning. They have slots.
	Acts []string `json:"acts,omitempty"`

	// Uses are how clients use each Memcached at the beginning.
	Uses map[string]reporting.Use `json:"uses,omitempty"`

	Steps []Step `json:"steps"`

	// Restart says whether the operator is restarted once the faults are over. If it is not, the operator has to recover
	// by itself, and may take as long as its longest pause.
	Restart bool `json:"restart"`
}

// Step is a change or a fault.
type Step struct {
	// Do is the name of an action.
	Do string `json:"do"`

	// Cache is the name of the Memcached on which the step acts. Actions on the whole namespace ignore it.
	Cache string `json:"cache"`

	// After is how long to wait after the step before this one.
	After metav1.Duration `json:"after"`

	// AtRest is whether to wait, in addition, until the operator has been at rest for a moment. Drawn steps don't wait for
	// this.
	AtRest bool `json:"atRest,omitempty"`

	// With has the arguments of the action.
	With json.RawMessage `json:"with,omitempty"`
}

// String returns a text like `#3 after 120ms: kill the operator at a write (a) {"write":2}`.
func (s Step) String() string {
	return fmt.Sprintf("after %v: %s (%s) %s", s.After.Duration, s.Do, s.Cache, s.With)
}

// Action is a kind of step.
type Action struct {
	// Name says what is done: "kill the operator at a write".
	Name string

	// Weight is how often the action is drawn, relative to the others.
	Weight int

	// Draw returns the arguments, which are written to the plan as JSON; nil if there are none.
	Draw func(*rand.Rand) any

	// Only is the kind of Nodes that the action needs. If it is empty, both kinds are allowed.
	Only Nodes
}

// Nodes states whether the Nodes of a run are simulated or real.
type Nodes string

// These are the kinds of Nodes. On simulated Nodes, no program runs in the Pods.
const (
	RealNodes      Nodes = "real"
	SimulatedNodes Nodes = "simulated"
)

// These are the bounds of a plan.
const (
	leastSteps = 4
	mostSteps  = 16
	mostCaches = 2

	// longestWait is the longest wait between two steps. The operator reconciles in milliseconds, so most waits are
	// shorter by far.
	longestWait = 2 * time.Second
)

// New returns the plan of a seed.
func New(seed uint64, actions []Action) (Plan, error) {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same seed must give the same plan
	p := Plan{Seed: seed, Caches: []string{"a", "b"}[:1+r.IntN(mostCaches)], Restart: r.IntN(5) > 0}
	p.Slots = []string{"", "", "DNS", "ClusterIP"}[r.IntN(4)]
	p.Uses = map[string]reporting.Use{}
	for _, cache := range p.Caches {
		if p.Uses[cache] = DrawUse(r); r.IntN(4) == 0 {
			p.Acts = append(p.Acts, cache)
		}
	}
	for range leastSteps + r.IntN(mostSteps-leastSteps+1) {
		step, err := Draw(r, actions, p.Caches)
		if err != nil {
			return p, fmt.Errorf("seed %d: %w", seed, err)
		}
		step.After = wait(r)
		p.Steps = append(p.Steps, step)
	}
	return p, nil
}

// DrawUse draws how clients use a cache. Most caches have been observed for long enough to know how much memory they
// need.
func DrawUse(r *rand.Rand) reporting.Use {
	hours, observed := []int64{4, 24, 48, 96, 200, 300, 700}, []int64{600, 7200, 86400, 86400, 86400}
	return reporting.Use{Hour: hours[r.IntN(len(hours))], Observed: observed[r.IntN(len(observed))]}
}

// Draw draws a step on one of the caches, without a wait.
func Draw(r *rand.Rand, actions []Action, caches []string) (Step, error) {
	action := choose(r, actions)
	step := Step{Do: action.Name, Cache: caches[r.IntN(len(caches))]}
	if action.Draw == nil {
		return step, nil
	}
	with, err := json.Marshal(action.Draw(r))
	if err != nil {
		return step, fmt.Errorf("action %q: %w", action.Name, err)
	}
	step.With = with
	return step, nil
}

// wait draws a wait. Short waits are more frequent.
func wait(r *rand.Rand) metav1.Duration {
	scale := time.Duration(1 + r.IntN(100))
	return metav1.Duration{Duration: (longestWait * scale * scale / 10_000).Round(time.Millisecond)}
}

func choose(r *rand.Rand, actions []Action) Action {
	total := 0
	for _, action := range actions {
		total += action.Weight
	}
	chosen := r.IntN(total)
	for _, action := range actions {
		if chosen -= action.Weight; chosen < 0 {
			return action
		}
	}
	panic("unreachable: the weights add up to the total")
}
