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
	"github.com/example-inc/memcached-operator/scripts/release/image"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func catalogCommand() *cobra.Command {
	var dir, bundleImage string
	command := &cobra.Command{
		Use:   "catalog",
		Short: "Add the bundle to the catalog",
		Long: "Catalog adds the version in bundle/ to its channels, as the successor of the newest one there. A version\n" +
			"that the catalog has is replaced. If gitops/settings names the example's catalog, it gets the new digest.",
		Example: "  go run ./scripts/release catalog --bundle-image registry.example.com/memcached-operator-bundle:v0.1.0",
		Args:    cobra.NoArgs,
	}
	command.Flags().StringVar(&bundleImage, "bundle-image", "", "the bundle's image (required)")
	command.Flags().StringVar(&dir, "dir", bundle.Dir, "directory with the bundle and the catalog")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := catalog.AddBundle(dir, bundleImage); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Wrote %s\n", filepath.Join(dir, catalog.Path))
		return pinCatalog(dir, func(s *values.Settings) bool { return slices.Contains(s.Placeholders(), "catalogImage") })
	}
	return command
}

func renewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "renew",
		Short: "Write bundle and catalog again, with the version, the images and the channels that they have",
		Long: "Renew is for a change of the sources that is no release, such as a rebrand. It also writes the digest of\n" +
			"the catalog into gitops/settings.",
		Example: "  go run ./scripts/release renew",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			files, err := bundle.Read(bundle.Dir)
			if err != nil {
				return err
			}
			v, err := files.Version()
			if err != nil {
				return err
			}
			c, err := catalog.Load(bundle.Dir)
			if err != nil {
				return err
			}
			listed := c.Bundle(v.Metadata.Name)
			if listed == nil {
				return fmt.Errorf("%s does not list %s: run make catalog", catalog.Path, v.Metadata.Name)
			}
			if err := catalog.WriteBundle(command.Context(), ".", bundle.Dir, v.Options); err != nil {
				return err
			}
			if err := catalog.AddBundle(bundle.Dir, listed.Image); err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), "Wrote bundle and catalog again.")
			return pinCatalog(bundle.Dir, func(*values.Settings) bool { return true })
		},
	}
}

// pinCatalog writes the digest of the catalog's image into the settings beside dir, if there are any.
func pinCatalog(dir string, applies func(*values.Settings) bool) error {
	root := filepath.Dir(dir)
	if _, err := os.Stat(filepath.Join(root, values.Path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	digest, err := image.Catalog.Digest(dir)
	if err != nil {
		return err
	}
	return values.Edit(root, func(s *values.Settings) {
		if name, _, _ := strings.Cut(s.CatalogImage, "@"); applies(s) {
			s.CatalogImage = name + "@" + digest
		}
	})
}
