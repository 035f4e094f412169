// Command verify checks the rules of this project that no linter checks: prose has none of the words in words.yaml, and
// generated files are up to date. It changes nothing in the tree.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/worktree"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check what no linter checks: words and generated files",
		Long: "Reports words of scripts/verify/words.yaml in prose. If there are none, it runs make from-types in a " +
			"copy of\nthe tree, including uncommitted and untracked files, and compares the result with the tree.",
		Args: cobra.NoArgs,
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		root, err := worktree.Root(command.Context())
		if err != nil {
			return err
		}
		if err := verify(command.Context(), root, "make from-types"); err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), "Words are plain, and generated files are up to date.")
		return nil
	}
	return command
}

// verify returns an error with the words of the lexicon that prose has. If prose has none, the error has the generated
// files that are not up to date.
func verify(ctx context.Context, root, generator string) error {
	files, err := worktree.Files(ctx, root)
	if err != nil {
		return err
	}
	l := &lexicon{}
	if err := yaml.UnmarshalStrict(wordsYAML, l); err != nil {
		return fmt.Errorf("words.yaml: %w", err)
	}
	problems, err := l.problems(root, files)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return errors.New("these words are not used in this project; scripts/verify/words.yaml has the words to use " +
			"instead:\n" + strings.Join(problems, "\n"))
	}
	changes, err := generatedChanges(ctx, root, generator)
	if err == nil && changes != "" {
		err = fmt.Errorf("generated files are not up to date, run %s:\n%s", generator, changes)
	}
	return err
}

// maxDiff is how many lines of a diff are shown at most.
const maxDiff = 60

// generatedChanges runs the generator in a copy of the tree, and returns the beginning of the diff of its changes.
func generatedChanges(ctx context.Context, root, generator string) (string, error) {
	dir, err := os.MkdirTemp("", "verify-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if err := worktree.CopyRepository(ctx, root, dir); err != nil {
		return "", err
	}
	if err := worktree.Run(ctx, dir, worktree.Environment(), "sh", "-c", generator); err != nil {
		return "", err
	}
	if _, err := worktree.Git(ctx, dir, "add", "--all"); err != nil {
		return "", err
	}
	diff, err := worktree.Git(ctx, dir, "diff", "--cached", "--no-color", "--unified=1")
	lines := strings.SplitAfter(diff, "\n")
	if more := len(lines) - maxDiff; more > 0 {
		lines = append(lines[:maxDiff], fmt.Sprintf("(%d more lines)", more))
	}
	return strings.TrimSpace(strings.Join(lines, "")), err
}
