package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
	"github.com/example-inc/memcached-operator/scripts/release/dist"
)

func prepareCommand() *cobra.Command {
	r := &cut.Release{Root: "."}
	command := &cobra.Command{
		Use:   "prepare",
		Short: "Write a version, and the digests of its images, into every place of the tree that names them",
		Long: "Prepare needs a tree without changes. It builds the images of operator and agent to learn their digests;\n" +
			"it asks no registry. An agent of the same version as in the last release stays as it was released.\n" +
			"Prepare writes manifests, settings, documentation, bundle and catalog, and checks that they agree.\n" +
			"It pushes, commits and tags nothing.",
		Example: "  go run ./scripts/release prepare --version 0.2.0 --registry registry.example.com/team --dry-run",
		Args:    cobra.NoArgs,
	}
	flags := command.Flags()
	addReleaseFlags(flags, r)
	flags.BoolVar(&r.DryRun, "dry-run", false, "write nothing, and report what would be written")
	command.RunE = func(command *cobra.Command, _ []string) error {
		r.AgentSources = dist.AgentSources
		r.Build = func(ctx context.Context, dir, version string) (cut.Digests, error) {
			programs, err := dist.Build(ctx, dir, version, oci.Platforms())
			if err != nil {
				return cut.Digests{}, err
			}
			return programs.Digests()
		}
		return r.Run(command.Context(), command.OutOrStdout())
	}
	return command
}
