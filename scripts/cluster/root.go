package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
)

// flags are what the commands have in common.
type flags struct {
	name   string
	output string
}

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "cluster",
		Short: "Run a whole Kubernetes cluster on this machine, without Docker",
		Long: "Runs a control plane, a node, DNS, an image registry, a Git repository and Argo CD on one Linux\n" +
			"machine, built from pinned Go modules. Nothing of it can reach beyond the machine, and nothing\n" +
			"is left of it after down. With simulated nodes it is a control plane alone, on any machine and\n" +
			"without root, and nothing runs in its Pods. See docs/local-cluster.md.",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&f.name, "name", "demo", "name of the cluster; several may run at once")
	up, down, status, env := upCommand(f), downCommand(f), statusCommand(f), envCommand(f)
	f.addSimulated(up, down, status, env)
	root.AddCommand(buildCommand(), assetsCommand(), f.needsCommand(), up, down, status, env)
	return root
}

func (f *flags) addOutput(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
}

func assetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "assets",
		Short: "Build what tests against an API server need, and print the folder that holds it",
		Long: "Builds etcd, kube-apiserver and kube-controller-manager for controller-runtime's envtest, and what\n" +
			"clusters of simulated nodes need beside them. Needs no root.",
		Example: `  KUBEBUILDER_ASSETS="$(go run ./scripts/cluster assets)" go test ./...`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := builds.Assets(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), dir)
			return nil
		},
	}
}
