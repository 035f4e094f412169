// Command gitops tells what Argo CD would do with gitops/, and what is wrong with it, without a cluster and without a
// network.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	log "github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log.SetOutput(io.Discard) // Argo CD's packages tell there what they do.
	err := newCommand().ExecuteContext(ctx)
	if err == nil {
		return
	}
	if !errors.Is(err, errProblems) {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(1)
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "gitops",
		Short:         "Tell what Argo CD would do with gitops/, and what is wrong with it",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(planCommand(), verifyCommand(), sourcesCommand())
	return root
}
