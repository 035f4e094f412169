package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/campaign"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

type runFlags struct {
	seeds         string
	minutes       float64
	real          bool
	plan          string
	each          string
	everyWrite    bool
	repeat        int
	workers       int
	shrinkMinutes float64
	mutant        string
}

func runCommand() *cobra.Command {
	flags := runFlags{}
	command := &cobra.Command{
		Use: "run", Short: "Carry out the plans of some seeds, and judge what happened", Args: cobra.NoArgs,
		Long: `Run carries out the plan of each seed, and judges the history. It fails if a run violates a rule. Then it
prints the rule, the last entries of the history, the command that repeats the seed, and the smallest plan that still
fails.

With --every-write it kills the operator instead, once in each run: before, during and after each write of a creation,
a rollout, a change to the memory, changes to the size with and without keys that move to other slots, a copy of keys
from other servers, and a deletion.`,
		Example: "  make faults                                   # from seed 1 on, for 10 minutes\n" +
			"  make faults SEED=17                           # one seed\n" +
			"  make faults SEED=1..100\n" +
			"  make faults SEED=new MINUTES=60               # from a random seed on, which it prints\n" +
			"  go run ./test/faults run --seeds 17 --repeat 10\n" +
			"  go run ./test/faults run --plan shrunk.json\n" +
			"  go run ./test/faults run --every-write\n" +
			"  go run ./test/faults run --every-write --each memory   # of the changes with this in their name\n" +
			"  go run ./test/faults run --each 'Pods'        # each action with this in its name, alone\n" +
			"  go run ./test/faults run --mutant 'reports Ready before the Pods are'   # what a failure looks like",
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command.Context(), command.OutOrStdout(), flags)
		},
	}
	f := command.Flags()
	f.StringVar(&flags.seeds, "seeds", "1", "a seed (17), a range (1..20), or new, which is a random seed; "+
		"with --minutes, a single seed is the first one, and all that follow are run until the time is over")
	f.Float64Var(&flags.minutes, "minutes", 0, "begin no seed after this time; 0 is no limit")
	f.BoolVar(&flags.real, "real", false, "use a cluster with a real Node, in whose Pods memcached runs (root, Linux)")
	f.StringVar(&flags.plan, "plan", "", "carry out the plan in this file instead")
	f.StringVar(&flags.each, "each", "", "carry out each action alone whose name this regular expression matches, "+
		"instead; an action that never has an effect is a failure, too. With --every-write, it chooses among the changes")
	f.BoolVar(&flags.everyWrite, "every-write", false, "kill the operator at each write of some changes, instead")
	f.StringVar(&flags.mutant, "mutant", "", "run this mutant of the operator: go run ./test/faults mutants --help")
	f.IntVar(&flags.repeat, "repeat", 1, "how often to carry out each plan, since some faults need a certain timing")
	f.IntVar(&flags.workers, "workers", min(runtime.NumCPU(), 4), "clusters; each carries out one plan at a time")
	f.Float64Var(&flags.shrinkMinutes, "shrink-minutes", 5, "how long to look for a smaller plan that breaks the rule")
	return command
}

// work is the plan or the campaign that the flags describe.
type work struct {
	title string
	plans iter.Seq[plan.Plan]
	count int

	// add is called with each result, and judge returns an error for what was missing in the end. Both may be nil.
	add   func(campaign.Result)
	judge func(*campaign.Totals) error

	summary fmt.Stringer // printed in addition to the totals; may be nil
}

func (f *runFlags) validate(all []actions.Action) (work, error) {
	switch {
	case f.minutes < 0:
		return work{}, fmt.Errorf("--minutes %v: use 0, which is no limit, or more", f.minutes)
	case f.shrinkMinutes < 0:
		return work{}, fmt.Errorf("--shrink-minutes %v: use 0 or more", f.shrinkMinutes)
	case f.workers < 1:
		return work{}, fmt.Errorf("--workers %d: use at least 1", f.workers)
	case f.repeat < 1:
		return work{}, fmt.Errorf("--repeat %d: use at least 1", f.repeat)
	case f.plan != "":
		p, err := campaign.ReadPlan(f.plan)
		return work{title: "Plan " + f.plan, plans: slices.Values([]plan.Plan{p}), count: 1}, err
	case f.everyWrite:
		e, err := campaign.NewEveryWrite(f.each)
		if err != nil {
			return work{}, err
		}
		judge := func(*campaign.Totals) error { return e.Err() }
		return work{title: "Every write", plans: e.Plans(), count: math.MaxInt, add: e.Add, judge: judge, summary: e}, nil
	case f.each != "":
		plans, err := campaign.Each(all, f.each)
		return work{title: "Actions", plans: slices.Values(plans), count: len(plans), judge: haveEffects}, err
	}
	seeds, err := campaign.ParseSeeds(f.seeds, f.minutes > 0)
	if err != nil {
		return work{}, fmt.Errorf("--%w", err)
	}
	return work{title: "Seeds " + seeds.String(), plans: seeds.Plans(all), count: seeds.Count()}, nil
}

// haveEffects returns an error if no step of an action had an effect.
func haveEffects(totals *campaign.Totals) error {
	if without := totals.WithoutEffect(); len(without) > 0 {
		return fmt.Errorf("these actions never had an effect: %s", strings.Join(without, "; "))
	}
	return nil
}

func run(ctx context.Context, out io.Writer, flags runFlags) error {
	root, err := worktree.Root(ctx)
	if err != nil {
		return err
	}
	all, err := campaign.Actions(root, nodes(flags.real))
	if err != nil {
		return err
	}
	mutant, err := mutantNamed(flags.mutant)
	if err != nil {
		return err
	}
	all = mutant.Focus(all)
	work, err := flags.validate(all)
	if err != nil {
		return err
	}
	work.plans = mutant.Plans(work.plans)
	dir, err := os.MkdirTemp("", "faults-")
	if err != nil {
		return err
	}
	defer os.Remove(dir) // This fails, as intended, if a run left files in the folder.
	operators, err := os.MkdirTemp("", "faults-operators-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(operators)
	programs, err := build(ctx, root, operators, mutant.Edits...)
	if err != nil {
		return err
	}
	c := &campaign.Campaign{
		Root: root, Dir: dir, Programs: programs, Actions: all, Workers: flags.workers, Nodes: nodes(flags.real),
		Shrink: time.Duration(flags.shrinkMinutes * float64(time.Minute)),
	}
	if flags.real {
		c.Workers = 1 // A real Node needs the whole machine for its Pods.
	} else if work.count < flags.workers { // Only a few clusters are needed.
		c.Workers = min(flags.workers, work.count*flags.repeat)
	}
	work.plans = repeated(work.plans, flags.repeat)
	err = carryOut(ctx, c, work, flags.minutes, newPrinter(out, flags))
	if work.summary != nil {
		fmt.Fprintf(out, "\n%s", work.summary)
	}
	return err
}

// repeated returns each plan several times.
func repeated(plans iter.Seq[plan.Plan], times int) iter.Seq[plan.Plan] {
	return func(yield func(plan.Plan) bool) {
		for p := range plans {
			for range times {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// carryOut carries out the plans, shows the progress, and makes a printer print the results.
func carryOut(ctx context.Context, c *campaign.Campaign, work work, minutes float64, show printer) error {
	defer func() { c.Stop(context.WithoutCancel(ctx)) }()
	if err := c.Start(ctx); err != nil {
		return err
	}
	totals := campaign.NewTotals()
	c.Shrunk = show.shrunk
	err := progress.Stage(ctx, work.title, func(update func(string)) error {
		update(totals.String())
		c.Report = func(result campaign.Result) {
			totals.Add(result)
			if work.add != nil {
				work.add(result)
			}
			show.result(result)
			update(totals.String())
		}
		c.Searching = func(result campaign.Result) {
			update(fmt.Sprintf("a smaller plan of seed %d: %d runs", result.Seed, result.Runs))
		}
		return c.Run(ctx, campaign.Feed(ctx, work.plans, minutes))
	})
	show.end(totals)
	switch {
	case err != nil:
		return err
	case len(totals.Failed) > 0:
		return fmt.Errorf("the runs of %d of %d seeds violated a rule", len(totals.Failed), totals.Seeds)
	case work.judge != nil:
		return work.judge(totals)
	}
	return nil
}
