package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
	"github.com/example-inc/memcached-operator/scripts/release/dist"
)

// addReleaseFlags adds what every release is told.
func addReleaseFlags(flags *pflag.FlagSet, r *cut.Release) {
	flags.StringVar(&r.Version, "version", "", "version to release (required)")
	flags.StringVar(&r.Registry, "registry", "", "registry of all images, host and path (required)")
	flags.StringVar(&r.MemcachedImage, "memcached-image", "", "image of a Memcached that names none (default: as it was)")
}

func distCommand() *cobra.Command {
	r := &dist.Release{Release: cut.Release{Root: "."}}
	var platforms []string
	var output string
	command := &cobra.Command{
		Use:   "dist",
		Short: "Write a whole release into a folder, and push nothing",
		Long: "Dist makes a release of the commit that is checked out: manifests, images as OCI layouts, SBOMs, a list of\n" +
			"images for mirrors, release notes and checksums. It asks no registry, and does not change the tree.\n" +
			"The same commit and the same version of Go make the same bytes.\n" +
			"The folder must be new, empty, or hold an earlier release, which is replaced.",
		Example: "  go run ./scripts/release dist --version 0.2.0 --registry registry.example.com/team --out dist",
		Args:    cobra.NoArgs,
	}
	flags := command.Flags()
	addReleaseFlags(flags, &r.Release)
	flags.StringVar(&r.Out, "out", "dist", "folder to write")
	flags.StringSliceVar(&platforms, "platform", nil, "platforms of the programs' images, for a trial (default: all)")
	addOutput(flags, &output)
	command.RunE = func(command *cobra.Command, _ []string) error {
		r.Platforms = oci.Platforms()
		if len(platforms) > 0 {
			var err error
			if r.Platforms, err = oci.ParsePlatforms(platforms, oci.Platforms()...); err != nil {
				return err
			}
		}
		made, err := r.Make(command.Context())
		if err != nil {
			return err
		}
		return write(command.OutOrStdout(), output, made)
	}
	return command
}

func pushCommand() *cobra.Command {
	var out, output string
	var insecure bool
	command := &cobra.Command{
		Use:   "push",
		Short: "Push the images and the chart of a release that dist wrote, and nothing else",
		Long: "Push verifies the checksums of the release, and that no tag would move. It pushes the images and the Helm\n" +
			"chart to the registry that the release was made for, and checks that the registry returns the same digests.\n" +
			"It can be repeated.",
		Example: "  go run ./scripts/release push --out dist",
		Args:    cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&out, "out", "dist", "folder with the release")
	flags.BoolVar(&insecure, "insecure", false, "plain HTTP also to a registry that is not on this machine")
	addOutput(flags, &output)
	command.RunE = func(command *cobra.Command, _ []string) error {
		pushed, err := dist.Push(command.Context(), out, nameOptions(insecure)...)
		if err != nil {
			return err
		}
		return write(command.OutOrStdout(), output, pushed)
	}
	return command
}

func addOutput(flags *pflag.FlagSet, output *string) {
	flags.StringVarP(output, "output", "o", "text", "text, or json")
}

// write writes a result for people or for programs.
func write(out io.Writer, format string, result interface{ Print(io.Writer) error }) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(result)
	case "text":
		return result.Print(out)
	}
	return fmt.Errorf("--output %q: text and json are possible", format)
}
