// Command faults runs the operator under changes and faults that a seed chooses, and judges what happened by a model.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/faults/campaign"
	"github.com/example-inc/memcached-operator/test/faults/model"
	"github.com/example-inc/memcached-operator/test/faults/plan"
	"github.com/example-inc/memcached-operator/test/faults/variants"
	"github.com/example-inc/memcached-operator/test/faults/world"
)

func main() {
	log.SetLogger(logr.Discard())
	command := &cobra.Command{
		Use:          "faults",
		Short:        "Run the operator under faults that a seed chooses",
		SilenceUsage: true, SilenceErrors: true,
	}
	command.AddCommand(runCommand(), planCommand(), loadCommand())
	cli.Main(command)
}

func planCommand() *cobra.Command {
	var seed uint64
	command := &cobra.Command{
		Use: "plan", Short: "Print the plan of a seed", Args: cobra.NoArgs,
		Example: "  go run ./test/faults plan --seed 7",
		RunE: func(command *cobra.Command, _ []string) error {
			p, err := campaign.Plan(seed)
			if err != nil {
				return err
			}
			content, err := yaml.Marshal(p)
			if err == nil {
				_, err = command.OutOrStdout().Write(content)
			}
			return err
		},
	}
	command.Flags().Uint64Var(&seed, "seed", 1, "seed of the plan")
	return command
}

type runFlags struct {
	seed    uint64
	count   int
	workers int
	dir     string
}

func runCommand() *cobra.Command {
	flags := runFlags{}
	command := &cobra.Command{
		Use: "run", Short: "Carry out the plans of some seeds, and check what happened", Args: cobra.NoArgs,
		Example: "  go run ./test/faults run --seed 1 --count 20",
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command.Context(), command.OutOrStdout(), flags)
		},
	}
	command.Flags().Uint64Var(&flags.seed, "seed", 1, "first seed")
	command.Flags().IntVar(&flags.count, "count", 1, "number of seeds")
	command.Flags().IntVar(&flags.workers, "workers", 4, "number of clusters, each of which carries out one plan at a time")
	command.Flags().StringVar(&flags.dir, "dir", "", "folder for what failed runs leave; a new one by default")
	return command
}

func run(ctx context.Context, out io.Writer, flags runFlags) error {
	root, err := worktree.Root(ctx)
	if err != nil {
		return err
	}
	if flags.dir == "" {
		if flags.dir, err = os.MkdirTemp("", "faults-"); err != nil {
			return err
		}
	}
	programs := world.Programs{Operator: filepath.Join(flags.dir, "operator"), Earlier: filepath.Join(flags.dir, "operator")}
	err = progress.Stage(ctx, "Operator", func(func(string)) error { return variants.Build(ctx, root, programs.Operator) })
	if err != nil {
		return err
	}
	plans := make(chan plan.Plan, flags.count)
	for i := range flags.count {
		p, err := campaign.Plan(flags.seed + uint64(i))
		if err != nil {
			return err
		}
		plans <- p
	}
	close(plans)
	var mu sync.Mutex
	failed := 0
	c := campaign.Campaign{Root: root, Dir: flags.dir, Programs: programs, Workers: min(flags.workers, flags.count)}
	err = c.Run(ctx, plans, func(result campaign.Result) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "seed %d: %d steps, %.1f s, %d entries\n", result.Seed, len(result.Plan.Steps), result.Took.Seconds(),
			len(result.History.Entries))
		for _, violation := range result.Violations {
			fmt.Fprint(out, model.Explain(result.History, violation, 20))
		}
		if len(result.Violations) > 0 {
			failed++
			fmt.Fprintf(out, "  plan, history and log: %s\n", result.Dir)
		}
	})
	if err == nil && failed > 0 {
		err = errors.New("some rules were violated")
	}
	return err
}
