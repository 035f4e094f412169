// Command verify checks the house rules that no linter holds: generated files are what their
// generators make, and no Go file is longer than 300 lines. It changes nothing in the tree.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var generators []string
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check what no linter checks: generated files and the size of files",
		Long: "Verify runs the generators in a copy of the tree, uncommitted and untracked files included,\n" +
			"and compares. Each --generate is a command with its arguments, separated by spaces.",
		Example:       "  go run ./scripts/verify --generate 'make generate manifests api-docs'",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.Flags().StringArrayVar(&generators, "generate", []string{"make generate manifests api-docs"},
		"command that writes generated files (repeatable)")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := worktree.Git(command.Context(), ".", "rev-parse", "--show-toplevel")
		if err != nil {
			return err
		}
		problems, err := verify(command.Context(), strings.TrimSpace(root), generators)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			fmt.Fprintln(command.OutOrStdout(), problem)
		}
		if len(problems) > 0 {
			return fmt.Errorf("%d problems found", len(problems))
		}
		fmt.Fprintln(command.OutOrStdout(), "Generated files are up to date, and no Go file is too long.")
		return nil
	}
	return command
}

// verify returns everything that is wrong, not only the first of it.
func verify(ctx context.Context, root string, generators []string) ([]string, error) {
	files, err := worktree.Files(ctx, root)
	if err != nil {
		return nil, err
	}
	long, err := longFiles(root, files)
	if err != nil {
		return nil, err
	}
	stale, err := staleFiles(ctx, root, files, generators)
	return append(long, stale...), err
}
