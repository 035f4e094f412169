// Command verify checks the house rules that no linter checks: prose has none of the words in words.yaml, no Go file is
// longer than 300 lines, and generated files are up to date. It changes nothing in the tree.
package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	var generators []string
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check what no linter checks: words, the size of files, generated files",
		Long: "Reports words of scripts/verify/words.yaml in prose, and Go files that are too long. If there are none,\n" +
			"runs the generators in a copy of the tree, uncommitted and untracked files included, and compares.\n" +
			"Each --generate is a command with its arguments, separated by spaces.",
		Example:       "  go run ./scripts/verify --generate 'make from-types'",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.Flags().StringArrayVar(&generators, "generate", []string{"make from-types"},
		"command that writes generated files (repeatable)")
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := worktree.Root(command.Context())
		if err != nil {
			return err
		}
		problems, err := verify(command.Context(), root, generators)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			fmt.Fprintln(command.OutOrStdout(), problem)
		}
		if len(problems) > 0 {
			return fmt.Errorf("%d problems found", len(problems))
		}
		fmt.Fprintln(command.OutOrStdout(), "Words are plain, Go files are short, and generated files are up to date.")
		return nil
	}
	return command
}

// verify returns the problems of the files, or else the generated files that are not up to date.
func verify(ctx context.Context, root string, generators []string) ([]string, error) {
	files, err := worktree.Files(ctx, root)
	if err != nil {
		return nil, err
	}
	l, err := readLexicon(wordsYAML)
	if err != nil {
		return nil, err
	}
	words, err := l.problems(root, files)
	if err != nil {
		return nil, err
	}
	long, err := longFiles(root, files)
	if problems := append(words, long...); err != nil || len(problems) > 0 {
		return problems, err
	}
	return staleFiles(ctx, root, files, generators)
}
