package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/emit"
)

// bundleFlags are those of the command bundle.
type bundleFlags struct {
	bundle.Options
	dir      string
	digests  bool
	insecure bool
}

func bundleCommand() *cobra.Command {
	f := &bundleFlags{}
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Write bundle/ from operator/config",
		Long: "Bundle writes the same bytes for the same input: the time in it is an input too. What a version replaces\n" +
			"it takes from the catalog in the same folder.",
		Example: "  go run ./scripts/release bundle --version 0.1.0 --channels stable,candidate \\\n" +
			"    --image " + bundle.ImageExample,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command) },
	}
	flags := command.Flags()
	flags.StringVar(&f.Version, "version", "", "version of the bundle (required)")
	flags.StringVar(&f.Image, "image", "", "the operator's image (required)")
	flags.StringVar(&f.AgentImage, "agent-image", "", "image of the agent in caches' Pods (default: as in the manifests)")
	flags.StringVar(&f.MemcachedImage, "memcached-image", "",
		"image of a Memcached that names none (default: as in the manifests)")
	flags.StringSliceVar(&f.Channels, "channels", []string{"stable", "candidate"}, "channels that the version is in")
	flags.StringVar(&f.DefaultChannel, "default-channel", "", "channel of those who choose none (default: the first)")
	flags.StringVar(&f.CreatedAt, "created-at", "", "time of the release (default: as in the base)")
	flags.StringVar(&f.PullSecret, "pull-secret", "", "Secret by which the operator's image is pulled")
	flags.BoolVar(&f.digests, "use-image-digests", false, "name images by digest, which the registries are asked for")
	flags.BoolVar(&f.insecure, "insecure", false, "plain HTTP also to a registry that is not on this machine")
	flags.StringVar(&f.dir, "dir", bundle.Dir, "folder to write to")
	return command
}

func (f *bundleFlags) run(command *cobra.Command) error {
	if f.digests {
		f.Digest = func(ctx context.Context, image string) (string, error) {
			return oci.Digest(ctx, image, nameOptions(f.insecure)...)
		}
	}
	if err := emit.Bundle(command.Context(), ".", f.dir, f.Options); err != nil {
		return err
	}
	fmt.Fprintf(command.OutOrStdout(), "%s is written: %s\n", f.dir, bundle.Name(f.Version))
	return validateByTool(command, f.dir)
}

// validateByTool runs operator-sdk's own checks as well, where there is that program.
func validateByTool(command *cobra.Command, dir string) error {
	path, err := exec.LookPath("operator-sdk")
	if err != nil {
		return nil //nolint:nilerror // It is an addition: our own checks have the same rules.
	}
	tool := exec.CommandContext(command.Context(), path, "bundle", "validate", dir,
		"--select-optional", "suite=operatorframework")
	tool.Stdout, tool.Stderr = command.OutOrStdout(), os.Stderr
	return tool.Run()
}

func nameOptions(insecure bool) []name.Option {
	if insecure {
		return []name.Option{name.Insecure}
	}
	return nil
}
