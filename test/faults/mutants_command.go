package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/faults/campaign"
	"github.com/example-inc/memcached-operator/test/faults/environment"
	"github.com/example-inc/memcached-operator/test/faults/mutants"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/variants"
)

func mutantsCommand() *cobra.Command {
	var only []string
	var seeds, page string
	var workers int
	command := &cobra.Command{
		Use: "mutants", Short: "Check that the campaign finds operators with a deliberate fault", Args: cobra.NoArgs,
		Long: `Mutants builds operators with a deliberate fault each, without changing the tree, and runs seeds until a rule
does not hold that holds without the fault. It fails if no seed finds one of them.`,
		Example: "  go run ./test/faults mutants --seeds 1..50\n" +
			"  go run ./test/faults mutants --only 'ignores spec.suspend'\n" +
			"  go run ./test/faults mutants --page docs/reliability.md",
		RunE: func(command *cobra.Command, _ []string) error {
			chosen, err := choose(only)
			if err != nil {
				return err
			}
			range_, err := campaign.ParseSeeds(seeds, false)
			if err != nil {
				return fmt.Errorf("--%w", err)
			}
			return findMutants(command.Context(), command.OutOrStdout(), chosen, range_, workers, page)
		},
	}
	command.Flags().StringArrayVar(&only, "only", nil, "the name of a mutant; may be repeated; all by default")
	command.Flags().StringVar(&seeds, "seeds", "1..200", "the seeds that have to find each, unless their plans cannot")
	command.Flags().IntVar(&workers, "workers", min(runtime.NumCPU(), 4), "number of clusters")
	command.Flags().StringVar(&page, "page", "", "page to write the table to; none by default")
	return command
}

func choose(only []string) ([]mutants.Mutant, error) {
	all := mutants.All()
	if len(only) == 0 {
		return all, nil
	}
	var chosen []mutants.Mutant
	for _, name := range only {
		i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no mutant %q: docs/reliability.md lists them", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// mutantNamed returns the mutant with this name or, for an empty name, a Mutant that has no fault.
func mutantNamed(name string) (mutants.Mutant, error) {
	if name == "" {
		return mutants.Mutant{}, nil
	}
	chosen, err := choose([]string{name})
	if err != nil {
		return mutants.Mutant{}, err
	}
	return chosen[0], nil
}

func findMutants(
	ctx context.Context, out io.Writer, chosen []mutants.Mutant, seeds campaign.Seeds, workers int, page string,
) (err error) {
	s, err := newSearch(ctx, workers)
	if err != nil {
		return err
	}
	defer func() { s.end(context.WithoutCancel(ctx)) }()
	var found []mutants.Found
	var missed []string
	for _, mutant := range chosen {
		result, err := s.find(ctx, mutant, seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", mutant.Name, err)
		}
		fmt.Fprint(out, result.Row())
		found = append(found, result)
		if result.Rule == "" {
			missed = append(missed, mutant.Name)
		}
		if page != "" {
			if err := mutants.WritePage(page, found); err != nil {
				return err
			}
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("the seeds %s do not find: %s", seeds, strings.Join(missed, "; "))
	}
	return nil
}

// search looks for mutants.
type search struct {
	dir      string
	original *campaign.Campaign // with the operator without a fault
	controls sync.Map           // by seed, the result of its plan with the original, for the current mutant
}

func newSearch(ctx context.Context, workers int) (s *search, err error) {
	s = &search{original: &campaign.Campaign{Workers: workers}}
	if s.original.Root, err = worktree.Root(ctx); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "mutants-"); err != nil {
		return nil, err
	}
	if s.original.Actions, err = campaign.Actions(s.original.Root, plan.SimulatedNodes); err != nil {
		return nil, err
	}
	s.original.Dir = s.dir
	if s.original.Programs, err = build(ctx, s.original.Root, s.dir); err != nil {
		return nil, err
	}
	if err := s.original.Start(ctx); err != nil {
		s.end(context.WithoutCancel(ctx))
		return nil, err
	}
	return s, nil
}

func (s *search) end(ctx context.Context) {
	s.original.Stop(ctx)
	_ = os.RemoveAll(s.dir)
}

// errMissed means that no seed found the mutant.
var errMissed = errors.New("no seed found it")

// find runs seeds until one finds the mutant.
func (s *search) find(ctx context.Context, mutant mutants.Mutant, seeds campaign.Seeds) (mutants.Found, error) {
	found := mutants.Found{Mutant: mutant, By: seeds.String()}
	s.controls.Clear() // Another mutant has other plans.
	faulty := &campaign.Campaign{Dir: s.dir, Programs: s.original.Programs, Actions: s.original.Actions}
	faulty.Programs.Operator = filepath.Join(s.dir, "mutant")
	if err := variants.Build(ctx, s.original.Root, faulty.Programs.Operator,
		append(variants.Hurry(), mutant.Edits...)...); err != nil {
		return found, err
	}
	err := progress.Stage(ctx, mutant.Name, func(update func(string)) error {
		searching, stop := context.WithCancel(ctx)
		defer stop()
		showing := mutant.Plans(seeds.Plans(mutant.Focus(faulty.Actions)))
		plans, first, mu := campaign.Feed(searching, showing, 0), seeds.Last, sync.Mutex{}
		err := s.each(plans, func(cluster *environment.Environment, p plan.Plan) error {
			rule, err := s.try(ctx, cluster, faulty, p, mutant.Rule)
			mu.Lock()
			defer mu.Unlock()
			update(fmt.Sprintf("seed %d", p.Seed))
			if rule != "" && p.Seed <= first {
				found.Rule, found.By, first = rule, strconv.FormatUint(p.Seed, 10), p.Seed
				stop()
			}
			return err
		})
		if err == nil && found.Rule == "" {
			err = errMissed
		}
		return err
	})
	if errors.Is(err, errMissed) {
		err = nil
	}
	return found, err
}

// each carries out plans on all clusters.
func (s *search) each(plans <-chan plan.Plan, try func(*environment.Environment, plan.Plan) error) error {
	var group errgroup.Group
	for _, cluster := range s.original.Clusters {
		group.Go(func() error {
			for p := range plans {
				if err := try(cluster, p); err != nil {
					return fmt.Errorf("seed %d: %w", p.Seed, err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// try carries out a plan with a mutant. It returns a rule that the mutant breaks, and the operator without a fault does
// not: the expected rule, if it is one of these. It returns "" if there is no such rule.
func (s *search) try(
	ctx context.Context, cluster *environment.Environment, faulty *campaign.Campaign, p plan.Plan, expected string,
) (string, error) {
	result, err := tryOnce(ctx, cluster, faulty, p)
	if err != nil || len(result.Violations) == 0 {
		return "", err
	}
	control, err := s.control(ctx, cluster, p)
	if err != nil {
		return "", err
	}
	rule := ""
	for _, violation := range slices.Backward(result.Violations) {
		if !control.Breaks(violation.Rule) && (rule != expected || violation.Rule == expected) {
			rule = violation.Rule
		}
	}
	return rule, nil
}

// control returns the result of a plan with the operator without a fault, and carries out each plan only once.
func (s *search) control(
	ctx context.Context, cluster *environment.Environment, p plan.Plan,
) (campaign.Result, error) {
	if known, ok := s.controls.Load(p.Seed); ok {
		return known.(campaign.Result), nil
	}
	result, err := tryOnce(ctx, cluster, s.original, p)
	if err == nil {
		result.History = nil // A history needs much memory.
		s.controls.Store(p.Seed, result)
	}
	return result, err
}

// tryOnce carries out a plan, and removes the files of the run.
func tryOnce(
	ctx context.Context, cluster *environment.Environment, c *campaign.Campaign, p plan.Plan,
) (campaign.Result, error) {
	result, err := c.Try(ctx, cluster, p)
	return result, errors.Join(err, os.RemoveAll(result.Dir))
}
