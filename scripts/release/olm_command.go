package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
	"github.com/example-inc/memcached-operator/scripts/release/operatorhub"
	"github.com/example-inc/memcached-operator/scripts/settings/values"
)

func bundleCommand() *cobra.Command {
	var o bundle.Options
	var dir string
	var digests bool
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Write bundle/ from operator/config",
		Long: "Bundle writes the same bytes for the same input. The bundle replaces the newest older version that " +
			"the\ncatalog in the same directory has.",
		Example: "  go run ./scripts/release bundle --version 0.1.0 --channels stable,candidate \\\n" +
			"    --image " + bundle.ImageExample,
	}
	flags := command.Flags()
	flags.StringVar(&o.Version, "version", "", "version of the bundle (required)")
	o.Flags(flags, "the operator's image (required)")
	flags.StringSliceVar(&o.Channels, "channels", []string{"stable", "candidate"}, "channels that get the version")
	flags.StringVar(&o.DefaultChannel, "default-channel", "", "channel for users who choose none (default: the first "+
		"of --channels)")
	flags.StringVar(&o.PullSecret, "pull-secret", "", "Secret by which the operator's image is pulled")
	flags.BoolVar(&digests, "use-image-digests", false, "name images by the digests that their registries report")
	flags.StringVar(&dir, "dir", bundle.Dir, "directory to write to")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if digests {
			o.Digest = oci.Digest
		}
		if err := catalog.WriteBundle(command.Context(), ".", dir, o); err != nil {
			return err
		}
		_, err := fmt.Fprintf(command.OutOrStdout(), "Wrote %s: %s\n", dir, bundle.Name(o.Version))
		return err
	}
	return command
}

func catalogCommand() *cobra.Command {
	var dir, bundleImage string
	command := &cobra.Command{
		Use:   "catalog",
		Short: "Add the bundle to the catalog",
		Long: "Catalog adds the version in bundle/ to its channels, where it replaces the newest version. If the " +
			"catalog already\nhas the version, it writes that one again. If gitops/settings names the example catalog, it " +
			"gets the new digest.",
		Example: "  go run ./scripts/release catalog --bundle-image registry.example.com/memcached-operator-bundle:v0.1.0",
	}
	command.Flags().StringVar(&bundleImage, "bundle-image", "", "the bundle's image (required)")
	command.Flags().StringVar(&dir, "dir", bundle.Dir, "directory with the bundle and the catalog")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := catalog.AddBundle(dir, bundleImage); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Wrote %s\n", filepath.Join(dir, catalog.Path))
		return pinCatalog(dir, false)
	}
	return command
}

func renewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "renew",
		Short: "Write bundle and catalog again, with the version, the channels and the chosen images that they have",
		Long: "Renew is for changes to the sources that are not a release: make generate runs it.\n" +
			"It also writes the digest of the catalog into gitops/settings.",
		Example: "  go run ./scripts/release renew",
		RunE: func(command *cobra.Command, _ []string) error {
			if err := catalog.Renew(command.Context(), ".", bundle.Dir); err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), "Wrote bundle and catalog again.")
			return pinCatalog(bundle.Dir, true)
		},
	}
}

// pinCatalog writes the digest of the catalog's image into the settings of the repository that has dir, if it has
// settings. If always is false, it changes the settings only if they name the example's catalog.
func pinCatalog(dir string, always bool) error {
	root := filepath.Dir(dir)
	if _, err := os.Stat(filepath.Join(root, values.Path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	index, err := bundle.CatalogImage.Build(dir)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	return values.Edit(root, func(s *values.Settings) {
		if always || values.IsExample(s.CatalogImage) {
			name, _, _ := strings.Cut(s.CatalogImage, "@")
			s.CatalogImage = name + "@" + digest.String()
		}
	})
}

func imageCommand() *cobra.Command {
	kinds := map[string]bundle.Recipe{"bundle": bundle.Image, "catalog": bundle.CatalogImage}
	command := &cobra.Command{
		Use:   "image bundle|catalog",
		Short: "Build the images that OLM reads, and push them",
		Long: "Image prints the reference by digest of the image that it built or pushed. It needs no container tool. " +
			"Without\none, it keeps no image on this machine. It uses plain HTTP for registries on this machine.",
		Example: "  go run ./scripts/release image bundle \\\n" +
			"    --tag registry.example.com/team/memcached-operator-bundle:v0.1.0 --push",
		ValidArgs: slices.Sorted(maps.Keys(kinds)),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
	}
	flags := command.Flags()
	tag := flags.String("tag", "", "the image, with registry and tag (required)")
	push := flags.Bool("push", false, "push the image; without this flag, it is only built")
	dir := flags.String("dir", bundle.Dir, "directory with the bundle and the catalog")
	tool := flags.String("tool", "", "build and push with docker, podman or buildah; the tool keeps the image")
	command.RunE = func(command *cobra.Command, args []string) error {
		if err := bundle.ValidateTarget("tag", *tag); err != nil {
			return err
		}
		if *tool != "" {
			return buildByTool(command, *tool, *dir, string(kinds[args[0]]), *tag, *push)
		}
		index, err := kinds[args[0]].Build(*dir)
		if err != nil {
			return err
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		if *push {
			if _, err := oci.Push(command.Context(), index, *tag); err != nil {
				return err
			}
		}
		fmt.Fprintf(command.OutOrStdout(), "%s@%s\n", bundle.RepositoryOf(*tag), digest)
		return nil
	}
	return command
}

// buildByTool builds for all platforms with podman and buildah, and for this computer's platform with docker, because
// not every docker can build for other platforms.
func buildByTool(command *cobra.Command, tool, dir, dockerfile, tag string, push bool) error {
	image, err := name.NewTag(tag)
	if err != nil {
		return err
	}
	run := func(args ...string) error {
		called := exec.CommandContext(command.Context(), tool, args...)
		// An attestation would appear as one more platform in the index.
		called.Env = append(os.Environ(), "BUILDX_NO_DEFAULT_ATTESTATIONS=1")
		called.Stdout, called.Stderr = command.ErrOrStderr(), command.ErrOrStderr()
		if err := called.Run(); err != nil {
			return fmt.Errorf("%s: %w", called, err)
		}
		return nil
	}
	build, pushing := []string{"build", "--tag", tag}, []string{"push", tag}
	switch tool {
	case "docker":
	case "podman", "buildah":
		_ = run("manifest", "rm", tag) // The build would add to a list of that name; fails without one.
		// With its cache, podman would use the image of the first platform for all platforms, because their layers are the
		// same.
		build = []string{"build", "--no-cache", "--manifest", tag,
			"--platform", "linux/" + strings.Join(oci.Architectures(), ",linux/")}
		verify := image.Scheme() != "http" // Docker also uses HTTP for registries on this machine
		pushing = []string{"manifest", "push", "--all", fmt.Sprintf("--tls-verify=%t", verify), tag, "docker://" + tag}
	default:
		return fmt.Errorf("--tool %q: name docker, podman or buildah, or omit it", tool)
	}
	if err := run(append(build, "--file", filepath.Join(dir, dockerfile), dir)...); err != nil || !push {
		return err
	}
	return run(pushing...)
}

func operatorHubCommand() *cobra.Command {
	var out string
	command := &cobra.Command{
		Use:   "operatorhub",
		Short: "Write the directory for a pull request to an OperatorHub community repository",
		Long: "Operatorhub writes operators/<name>/<version> and operators/<name>/ci.yaml from bundle/ into a directory,\n" +
			"such as a clone of k8s-operatorhub/community-operators or of\n" +
			"redhat-openshift-ecosystem/community-operators-prod. An existing ci.yaml is kept.\n" +
			"It checks the rules that both repositories publish, and writes nothing if the bundle breaks a rule.",
		Example: "  go run ./scripts/release operatorhub --out ../community-operators",
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
