package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/emit"
	"github.com/example-inc/memcached-operator/scripts/release/image"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func catalogCommand() *cobra.Command {
	var dir, bundleImage string
	command := &cobra.Command{
		Use:   "catalog",
		Short: "Add the bundle to the catalog",
		Long: "Catalog adds the version in bundle/ to its channels, behind the newest that is there. A version that is\n" +
			"there already is written anew. The settings of gitops/ that still are examples get its digest.",
		Example: "  go run ./scripts/release catalog --bundle-image registry.example.com/memcached-operator-bundle:v0.1.0",
		Args:    cobra.NoArgs,
	}
	command.Flags().StringVar(&bundleImage, "bundle-image", "", "the bundle's image (required)")
	command.Flags().StringVar(&dir, "dir", bundle.Dir, "folder with the bundle and the catalog")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := emit.Catalog(dir, bundleImage); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "%s is written\n", filepath.Join(dir, catalog.Path))
		return pinExample(dir)
	}
	return command
}

// pinExample keeps the example in the settings beside the bundle true. A catalog of the user's own is pinned by a
// release, or by themselves.
func pinExample(dir string) error {
	path := filepath.Join(filepath.Dir(dir), values.Path)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file, err := values.Load(path)
	if err != nil {
		return err
	}
	s, err := file.Settings()
	if err != nil || !slices.Contains(s.Placeholders(), "catalogImage") {
		return err
	}
	digest, err := image.Catalog.Digest(dir)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(s.CatalogImage, "@")
	s.CatalogImage = name + "@" + digest
	_, err = file.Save(s)
	return err
}
