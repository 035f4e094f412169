package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/builds"
	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
)

func buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "build",
		Short:   "Build all programs of the cluster into the cache",
		Example: "  go run ./scripts/cluster build",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			components := builds.Simulated()
			if runtime.GOOS == "linux" {
				components = builds.WithArgoCD()
			}
			binaries, err := builds.Ensure(cmd.Context(), components...)
			if err != nil {
				return err
			}
			for _, path := range slices.Sorted(maps.Values(binaries)) {
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return nil
		},
	}
}

func assetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "assets",
		Short: "Build the programs that tests against an API server need, and print their folder",
		Long: "Builds etcd, kube-apiserver and kube-controller-manager for controller-runtime's envtest, and the " +
			"programs\nthat clusters of simulated Nodes need in addition. Needs no root.",
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

func needsCommand() *cobra.Command {
	var install bool
	cmd := &cobra.Command{
		Use:   "needs PURPOSE",
		Short: "List the programs of this machine that a run needs, or install those that are missing",
		Long: "Lists the programs that a run calls and that are not built from Go modules, each with the package of " +
			"Debian\nand Ubuntu that has it. With --install, it installs the missing packages by apt-get, and prints " +
			"nothing if\nnone is missing. The make target with the name of the run does this first.",
		Example: "  go run ./scripts/cluster needs demo\n  sudo go run ./scripts/cluster needs e2e-arch --install",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			needs, err := preflight.For(args[0])
			if err != nil {
				return err
			}
			if install {
				return preflight.Ensure(cmd.Context(), needs, true)
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "PROGRAM\tPACKAGE\tINSTALLED\tWHY")
			for _, need := range needs {
				fmt.Fprintf(table, "%s\t%s\t%t\tit %s\n", need.Program, need.Package, need.Installed(), need.Why)
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&install, "install", false, "install what is missing, as root")
	return cmd
}
