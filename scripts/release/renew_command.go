package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/emit"
)

func renewCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "renew",
		Short: "Write bundle and catalog anew, with the version, the images and the channels that they have",
		Long: "Renew is for a change of the sources that is no release, such as a rebrand. It also writes the digest of\n" +
			"the catalog into gitops/settings.",
		Example: "  go run ./scripts/release renew",
		Args:    cobra.NoArgs,
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := emit.Renew(command.Context(), "."); err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), "Bundle and catalog are written anew.")
		return nil
	}
	return command
}
