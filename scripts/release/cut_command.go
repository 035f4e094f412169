package main

import (
	"context"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
)

func cutCommand() *cobra.Command {
	r := &cut.Release{Root: "."}
	var insecure bool
	command := &cobra.Command{
		Use:   "cut",
		Short: "Write a version, and the digests of what was pushed, into every place that names them",
		Long: "Cut needs a tree without changes, and the images of operator and agent in the registry, built of it.\n" +
			"An agent of the same version as in the last release stays as it was released. Cut writes manifests,\n" +
			"settings, documentation, bundle and catalog, looks whether they agree, and prints what is to be pushed.\n" +
			"It pushes, commits and tags nothing.",
		Example: "  go run ./scripts/release cut --version 0.2.0 --registry registry.example.com/team --dry-run",
		Args:    cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&r.Version, "version", "", "version to release (required)")
	flags.StringVar(&r.Registry, "registry", "", "registry of all images, host and path (required)")
	flags.StringVar(&r.MemcachedImage, "memcached-image", "", "image of a Memcached that names none (default: as it was)")
	flags.BoolVar(&r.DryRun, "dry-run", false, "write nothing, and tell what would be written")
	flags.BoolVar(&insecure, "insecure", false, "plain HTTP also to a registry that is not on this machine")
	command.RunE = func(command *cobra.Command, _ []string) error {
		r.Digest = func(ctx context.Context, ref string) (string, error) {
			return oci.Digest(ctx, ref, nameOptions(insecure)...)
		}
		r.Build, r.BuildAgent, r.AgentSources = buildOperator, buildAgent, agentSources
		return r.Run(command.Context(), command.OutOrStdout())
	}
	return command
}

// buildOperator builds the image that make image-index pushes.
func buildOperator(ctx context.Context, dir, version string) (digest string, err error) {
	return buildAll(ctx, "The operator's image, to compare", oci.Operator(dir, version))
}

// buildAgent builds the image that make agent-image-index pushes.
func buildAgent(ctx context.Context, dir string) (digest string, err error) {
	program, _, err := oci.Agent(dir)
	if err != nil {
		return "", err
	}
	return buildAll(ctx, "The agent's image, to compare", program)
}

func agentSources(ctx context.Context, dir string) (folders []string, err error) {
	program, _, err := oci.Agent(dir)
	if err != nil {
		return nil, err
	}
	return program.Sources(ctx)
}

func buildAll(ctx context.Context, title string, program oci.Program) (digest string, err error) {
	var index v1.ImageIndex
	err = progress.Stage(ctx, title, func(update func(string)) (err error) {
		index, err = program.BuildAll(ctx, oci.Platforms(), update)
		return err
	})
	if err != nil {
		return "", err
	}
	return digestOf(index)
}
