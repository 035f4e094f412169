package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/emit"
)

func catalogCommand() *cobra.Command {
	var dir, image string
	command := &cobra.Command{
		Use:   "catalog",
		Short: "Add the bundle to the catalog",
		Long: "Catalog adds the version in bundle/ to its channels, behind the newest that is there. A version that is\n" +
			"there already is written anew.",
		Example: "  go run ./scripts/release catalog --bundle-image registry.example.com/memcached-operator-bundle:v0.1.0",
		Args:    cobra.NoArgs,
	}
	command.Flags().StringVar(&image, "bundle-image", "", "the bundle's image (required)")
	command.Flags().StringVar(&dir, "dir", bundle.Dir, "folder with the bundle and the catalog")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := emit.Catalog(dir, image); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "%s is written\n", filepath.Join(dir, catalog.Path))
		return nil
	}
	return command
}
