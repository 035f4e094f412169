package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/test/faults/history"
	"github.com/example-inc/memcached-operator/test/faults/model"
)

// errViolated is the error of a command that has found violations. The command has already printed them.
var errViolated = errors.New("some rules were violated")

func checkCommand() *cobra.Command {
	var lines int
	command := &cobra.Command{
		Use: "check HISTORY...", Short: "Check saved histories by the model again", Args: cobra.MinimumNArgs(1),
		Example: "  go run ./test/faults check /tmp/faults-1/seed-7-1/history.json",
		RunE: func(command *cobra.Command, paths []string) error {
			return check(command.OutOrStdout(), paths, lines)
		},
	}
	command.Flags().IntVar(&lines, "lines", 30, "number of entries to print for each violation")
	return command
}

func check(out io.Writer, paths []string, lines int) error {
	violated := false
	for _, path := range paths {
		h, err := history.Load(path)
		if err != nil {
			return err
		}
		violations := model.Check(h, model.Rules())
		fmt.Fprintf(out, "%s: %d entries, %d rules violated\n", path, len(h.Entries), len(violations))
		for _, violation := range violations {
			violated = true
			fmt.Fprint(out, model.Explain(h, violation, lines))
		}
	}
	if violated {
		return errViolated
	}
	return nil
}
