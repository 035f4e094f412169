// Command demo shows the whole chain on this machine: a commit is pushed to Git, Argo CD syncs it into a real
// cluster, the operator makes a cache of it, and a client stores keys in it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/local"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole chain on this machine, from a Git push to keys in a cache",
		Long: "Brings up a real cluster with Argo CD on this machine, without Docker, installs the operator\n" +
			"from Git, and leaves all of it running. Take it down by: make demo-down",
		SilenceUsage: true, SilenceErrors: true,
	}
	var options local.Options
	up := &cobra.Command{
		Use:     "up",
		Short:   "Bring everything up and show it working",
		Example: "  sudo go run ./scripts/demo up",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.ArgoCD = true
			return show(cmd.Context(), cmd.OutOrStdout(), options)
		},
	}
	up.Flags().BoolVar(&options.NoInstall, "no-install", false,
		"refuse instead of installing missing packages with apt-get")
	up.Flags().StringVar(&options.Name, "name", "demo", "name of the cluster; several may run at once")
	root.AddCommand(up)
	return root
}
