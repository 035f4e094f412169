package campaign

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/example-inc/memcached-operator/test/faults/environment"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

// repeats is how often a plan that broke a rule is carried out again. If it never breaks the rule again, no smaller
// plan is looked for.
const repeats = 2

// shrink looks for the smallest part of a plan that breaks the same rule.
func (c *Campaign) shrink(ctx context.Context, cluster *environment.Environment, result *Result) error {
	s := &shrinking{
		Campaign: c, cluster: cluster, rule: result.Violations[0].Rule, until: time.Now().Add(c.Shrink),
	}
	for range repeats {
		result.Again = result.Again || s.breaks(ctx, result.Plan)
	}
	if result.Again {
		least := smaller(result.Plan, func(p plan.Plan) bool { return s.breaks(ctx, p) })
		result.Shrunk = &least
	}
	result.Runs = s.runs
	if s.err != nil || result.Shrunk == nil {
		return s.err
	}
	return result.write(ShrunkFile, result.Shrunk)
}

// smaller removes the parts of a plan that are not needed for it to fail: first steps, then the second Memcached.
func smaller(p plan.Plan, fails func(plan.Plan) bool) plan.Plan {
	with := func(steps []plan.Step) plan.Plan {
		return plan.Plan{Seed: p.Seed, Caches: p.Caches, Slots: p.Slots, Steps: steps, Restart: p.Restart}
	}
	p.Steps = smallest(p.Steps, func(steps []plan.Step) bool { return fails(with(steps)) })
	for _, cache := range p.Caches {
		one := with(slices.Clone(p.Steps))
		one.Caches = []string{cache}
		for i := range one.Steps {
			one.Steps[i].Cache = cache
		}
		if len(p.Caches) > 1 && fails(one) {
			return one
		}
	}
	return p
}

type shrinking struct {
	*Campaign

	cluster *environment.Environment
	rule    string
	until   time.Time
	runs    int
	err     error
}

// breaks carries out a plan, and reports whether it breaks the rule. Once the time is over, it returns false.
func (s *shrinking) breaks(ctx context.Context, p plan.Plan) bool {
	if s.err != nil || time.Now().After(s.until) {
		return false
	}
	var result Result
	if result, s.err = s.Try(ctx, s.cluster, p); s.err != nil {
		return false
	}
	s.runs++
	s.report(s.Searching, Result{Seed: p.Seed, Runs: s.runs})
	s.err = os.RemoveAll(result.Dir)
	return result.Breaks(s.rule)
}
