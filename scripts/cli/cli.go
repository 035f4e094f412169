// Package cli starts the commands of this folder.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a command. If the command fails, Main prints the error and exits with 1. SIGINT and SIGTERM cancel the
// command's context.
func Main(command *cobra.Command) {
	command.SilenceErrors, command.SilenceUsage = true, true
	command.CompletionOptions.DisableDefaultCmd = true
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
