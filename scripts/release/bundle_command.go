package main

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/catalog"
)

func bundleCommand() *cobra.Command {
	var o bundle.Options
	var dir string
	var digests bool
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Write bundle/ from operator/config",
		Long: "Bundle writes the same bytes for the same input. The version that it replaces is the newest older one in\n" +
			"the catalog in the same directory.",
		Example: "  go run ./scripts/release bundle --version 0.1.0 --channels stable,candidate \\\n" +
			"    --image " + bundle.ImageExample,
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&o.Version, "version", "", "version of the bundle (required)")
	flags.StringVar(&o.Image, "image", "", "the operator's image (required)")
	flags.StringVar(&o.AgentImage, "agent-image", "", "the agent's image (default: as in the manifests)")
	flags.StringVar(&o.MemcachedImage, "memcached-image", "",
		"image of a Memcached that names none (default: as in the manifests)")
	flags.StringSliceVar(&o.Channels, "channels", []string{"stable", "candidate"}, "channels that the version is in")
	flags.StringVar(&o.DefaultChannel, "default-channel", "", "channel of users who choose none (default: the first)")
	flags.StringVar(&o.PullSecret, "pull-secret", "", "Secret by which the operator's image is pulled")
	flags.BoolVar(&digests, "use-image-digests", false, "name images by digest, as their registries report them")
	flags.StringVar(&dir, "dir", bundle.Dir, "directory to write to")
	command.RunE = func(command *cobra.Command, _ []string) error {
		if digests {
			o.Digest = func(ctx context.Context, image string) (string, error) { return oci.Digest(ctx, image) }
		}
		if err := catalog.WriteBundle(command.Context(), ".", dir, o); err != nil {
			return err
		}
		_, err := fmt.Fprintf(command.OutOrStdout(), "Wrote %s: %s\n", dir, bundle.Name(o.Version))
		return err
	}
	return command
}

func nameOptions(insecure bool) []name.Option {
	if insecure {
		return []name.Option{name.Insecure}
	}
	return nil
}
