// Command faults runs the operator, makes changes and causes faults that are drawn from a seed, and judges by a model
// whether the operator behaved correctly.
package main

import (
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/worktree"
	"github.com/example-inc/memcached-operator/test/faults/campaign"
	"github.com/example-inc/memcached-operator/test/faults/plan"
)

func main() {
	log.SetLogger(logr.Discard())
	cli.Main(command())
}

func command() *cobra.Command {
	command := &cobra.Command{
		Use:   "faults",
		Short: "Run the operator under changes and faults that are drawn from a seed, and judge the history by a model",
		Long: `A seed chooses a plan: what users change, and what fails, step by step. The operator's own binary runs under
that plan in a cluster on this machine, with a real API server and without containers. A model then judges the
history: each stored state, and each request. docs/reliability.md explains all of it.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	command.AddCommand(runCommand(), checkCommand(), planCommand(), mutantsCommand(), loadCommand())
	return command
}

func nodes(onReal bool) plan.Nodes {
	if onReal {
		return plan.RealNodes
	}
	return plan.SimulatedNodes
}

func planCommand() *cobra.Command {
	var seed uint64
	var onReal bool
	command := &cobra.Command{
		Use: "plan", Short: "Print the plan of a seed", Args: cobra.NoArgs,
		Example: "  go run ./test/faults plan --seed 7",
		RunE: func(command *cobra.Command, _ []string) error {
			root, err := worktree.Root(command.Context())
			if err != nil {
				return err
			}
			all, err := campaign.Actions(root, nodes(onReal))
			if err != nil {
				return err
			}
			p, err := campaign.Plan(seed, all)
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
	command.Flags().BoolVar(&onReal, "real", false, "for a cluster with a real Node")
	return command
}
