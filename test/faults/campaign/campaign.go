package campaign

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/environment"
	"github.com/example-inc/memcached-operator/test/faults/model"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/schema"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// Campaign carries out many plans, and judges each run by the model.
type Campaign struct {
	Root     string // of the repository
	Dir      string // for the files of failed runs
	Programs world.Programs
	Actions  []actions.Action // that plans are made of
	Workers  int              // number of clusters; each carries out one plan at a time

	// Nodes says whether the clusters' Nodes are simulated or real. On real Nodes, memcached runs in the Pods, and clients
	// use it.
	Nodes plan.Nodes

	// Shrink is how long to look for a smaller plan that breaks the same rule. 0 means not to look. The campaign looks
	// only after the first violation of each rule.
	Shrink time.Duration

	// Report is called with each result. Shrunk is called with a result again, after the campaign has looked for a smaller
	// plan. Report and Shrunk are never called at the same time.
	Report, Shrunk func(Result)

	// Searching is called with the number of runs so far, while the campaign looks for a smaller plan.
	Searching func(Result)

	// Clusters are the clusters that Start returned.
	Clusters []*environment.Environment

	mu       sync.Mutex
	shrunken map[string]bool // the rules for which the campaign has looked for a smaller plan
}

// Actions returns the actions for real or for simulated Nodes. They include the changes that users make, which are
// derived from the CRD in a copy of the repository.
func Actions(root string, nodes plan.Nodes) ([]actions.Action, error) {
	s, err := schema.Read(root)
	if err != nil {
		return nil, err
	}
	return actions.On(nodes, actions.All(s)), nil
}

// Plan returns the plan that is drawn from these actions with this seed.
func Plan(seed uint64, all []actions.Action) (plan.Plan, error) {
	return plan.New(seed, actions.Plans(all))
}

// Start starts the clusters, at the same time. Only one of them shows its progress.
func (c *Campaign) Start(ctx context.Context) error {
	c.Clusters = make([]*environment.Environment, c.Workers)
	group, ctx := errgroup.WithContext(ctx)
	for worker := range c.Workers {
		group.Go(func() (err error) {
			ctx := ctx
			if worker > 0 {
				ctx = progress.WithOutput(ctx, io.Discard)
			}
			c.Clusters[worker], err = environment.Start(ctx, c.Root, c.name(worker), c.Nodes)
			return err
		})
	}
	return group.Wait()
}

// Stop stops the running clusters.
func (c *Campaign) Stop(ctx context.Context) {
	var done sync.WaitGroup
	for _, cluster := range c.Clusters {
		if cluster != nil {
			done.Go(func() { _ = cluster.Stop(ctx) })
		}
	}
	done.Wait()
}

// name returns the name of a worker's cluster. It differs for each copy of the repository, so that several campaigns
// can run at a time.
func (c *Campaign) name(worker int) string {
	sum := sha256.Sum256([]byte(c.Root))
	return fmt.Sprintf("faults-%x-%d", sum[:3], worker)
}

// Run carries out plans until there are no more.
func (c *Campaign) Run(ctx context.Context, plans <-chan plan.Plan) error {
	c.shrunken = map[string]bool{}
	group, ctx := errgroup.WithContext(ctx)
	for _, cluster := range c.Clusters {
		group.Go(func() error {
			for p := range plans {
				if err := c.judge(ctx, cluster, p); err != nil {
					return fmt.Errorf("seed %d: %w", p.Seed, err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// judge carries out a plan and reports the result, and looks for a smaller plan.
func (c *Campaign) judge(ctx context.Context, cluster *environment.Environment, p plan.Plan) error {
	result, err := c.Try(ctx, cluster, p)
	if err != nil {
		return err
	}
	if len(result.Violations) == 0 {
		c.report(c.Report, result)
		return os.RemoveAll(result.Dir)
	}
	if err := result.save(); err != nil {
		return err
	}
	c.report(c.Report, result)
	if c.Shrink == 0 || !c.first(result.Violations[0].Rule) {
		return nil
	}
	if err := c.shrink(ctx, cluster, &result); err != nil {
		return err
	}
	c.report(c.Shrunk, result)
	return nil
}

// Try carries out a plan, and judges what happened.
func (c *Campaign) Try(ctx context.Context, cluster *environment.Environment, p plan.Plan) (Result, error) {
	dir, err := os.MkdirTemp(c.Dir, fmt.Sprintf("seed-%d-", p.Seed))
	if err != nil {
		return Result{}, err
	}
	result := Result{Seed: p.Seed, Plan: p, Dir: dir}
	if result.History, result.Effects, err = Run(ctx, cluster, c.Programs, c.Actions, dir, p); err != nil {
		return result, err
	}
	result.Violations = model.Check(result.History, model.Rules())
	result.Requests = requests(result.History)
	return result, nil
}

func (c *Campaign) report(to func(Result), result Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to(result)
}

// first reports whether this is the first violation of the rule in the campaign.
func (c *Campaign) first(rule string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.shrunken[rule]
	c.shrunken[rule] = true
	return !before
}
