package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/operatorhub"
)

func operatorHubCommand() *cobra.Command {
	var out string
	command := &cobra.Command{
		Use:   "operatorhub",
		Short: "Write the directory that the OperatorHub community repositories want",
		Long: "Operatorhub writes operators/<name>/<version> and operators/<name>/ci.yaml from bundle/ into a directory,\n" +
			"such as a clone of k8s-operatorhub/community-operators or of\n" +
			"redhat-openshift-ecosystem/community-operators-prod. An existing ci.yaml is kept.\n" +
			"It checks the rules that both publish, and writes nothing that breaks one.",
		Example: "  go run ./scripts/release operatorhub --out ../community-operators",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if out == "" {
				return errors.New("--out is empty: name a directory, such as a clone of the repository (OUT= for make)")
			}
			dir, notes, err := operatorhub.Write(".", out)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "Wrote %s\n", dir)
			for _, note := range notes {
				fmt.Fprintf(command.OutOrStdout(), "Before a pull request: %s\n", note)
			}
			return nil
		},
	}
	command.Flags().StringVar(&out, "out", "", "directory to write to (required)")
	return command
}
