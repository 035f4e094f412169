// Command demo shows the whole chain: a commit is pushed to Git, Argo CD syncs it into a real cluster, the operator
// makes a cache of it, and a client stores keys in it. The cluster is one on this machine, or the user's own.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
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
		Short: "Show the whole chain, from a Git push to keys in a cache",
		Long: "Brings up a real cluster with Argo CD on this machine, without Docker, installs the operator\n" +
			"from Git, and leaves all of it running. Take it down by: make demo-down\n\n" +
			"With --cluster current it does the same on the cluster of your kubeconfig, with your registry and your\n" +
			"Git repository. It finds out first what is missing, and asks before it changes anything: docs/demo.md.",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(upCommand())
	return root
}
