package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/environment"
	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/model"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

// Campaign runs many seeds.
type Campaign struct {
	Root     string // of the repository
	Dir      string // for what runs leave: plan.json, history.json and operator.log of each that fails
	Programs world.Programs
	Workers  int // clusters; each carries out one plan at a time
}

// Result is that of one seed.
type Result struct {
	Seed       uint64            `json:"seed"`
	Plan       plan.Plan         `json:"plan"`
	Violations []model.Violation `json:"violations,omitempty"`
	Took       time.Duration     `json:"took"`

	History *history.History `json:"-"`
	Dir     string           `json:"-"` // of its files
}

// Run carries out the plans that it receives, and gives each result to report, one at a time per worker.
func (c Campaign) Run(ctx context.Context, plans <-chan plan.Plan, report func(Result)) error {
	group, ctx := errgroup.WithContext(ctx)
	for worker := range c.Workers {
		group.Go(func() error {
			e, err := environment.Start(ctx, c.Root, c.name(worker))
			if err != nil {
				return err
			}
			defer func() { _ = e.Stop(context.WithoutCancel(ctx)) }()
			for p := range plans {
				result, err := c.carryOut(ctx, e, p)
				if err != nil {
					return fmt.Errorf("seed %d: %w", p.Seed, err)
				}
				report(result)
			}
			return nil
		})
	}
	return group.Wait()
}

// name differs for each copy of the repository, so that several campaigns may run at a time.
func (c Campaign) name(worker int) string {
	sum := sha256.Sum256([]byte(c.Root))
	return fmt.Sprintf("faults-%x-%d", sum[:3], worker)
}

func (c Campaign) carryOut(ctx context.Context, e *environment.Environment, p plan.Plan) (Result, error) {
	started := time.Now()
	dir, err := os.MkdirTemp(c.Dir, fmt.Sprintf("seed-%d-", p.Seed))
	if err != nil {
		return Result{}, err
	}
	result := Result{Seed: p.Seed, Plan: p, Dir: dir}
	if result.History, err = Run(ctx, e, c.Programs, dir, p); err != nil {
		return result, err
	}
	result.Violations = model.Check(result.History, model.Rules())
	result.Took = time.Since(started)
	if len(result.Violations) == 0 {
		return result, os.RemoveAll(dir)
	}
	return result, result.save()
}

// save writes what a failed run leaves for whoever looks into it.
func (r Result) save() error {
	for name, value := range map[string]any{"plan.json": r.Plan, "history.json": r.History, "violations.json": r.Violations} {
		content, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Plan returns the plan of a seed.
func Plan(seed uint64) (plan.Plan, error) { return plan.New(seed, actions.Plans(actions.All())) }
