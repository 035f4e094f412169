// Command release writes the bundle and the catalog for OLM, and makes releases.
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
		Use:           "release",
		Short:         "Write the bundle and the catalog for OLM, and make releases",
		Long:          "Run it in the root of the repository. Each command checks its inputs before it writes anything.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(bundleCommand(), catalogCommand(), imageCommand(), prepareCommand(), distCommand(), renewCommand())
	root.AddCommand(operatorHubCommand(), refsCommand(), chartCommand(), pushCommand())
	return root
}
