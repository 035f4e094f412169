package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/operatorhub"
)

func operatorHubCommand() *cobra.Command {
	var out string
	command := &cobra.Command{
		Use:   "operatorhub",
		Short: "Write the folder that the OperatorHub community repositories want",
		Long: "It writes operators/<name>/<version> and operators/<name>/ci.yaml of bundle/ into a folder, such as\n" +
			"a clone of k8s-operatorhub/community-operators or of redhat-openshift-ecosystem/community-operators-prod.\n" +
			"A ci.yaml that is there already is kept.\n" +
			"It checks the rules that both publish, and writes nothing that breaks one.",
		Example: "  go run ./scripts/release operatorhub --out ../community-operators",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if out == "" {
				return fmt.Errorf("--out is empty: name a folder, such as a clone of the repository (OUT= for make)")
			}
			written, err := operatorhub.Write(".", out)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s is written.\n", written.Dir)
			for _, note := range written.Notes {
				fmt.Fprintf(command.OutOrStdout(), "Before a pull request: %s\n", note)
			}
			return nil
		},
	}
	command.Flags().StringVar(&out, "out", "", "folder to write to (required)")
	return command
}
