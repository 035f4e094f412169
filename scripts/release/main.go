// Command release writes the bundle and the catalog for OLM, and makes releases.
package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/chart"
	"github.com/example-inc/memcached-operator/scripts/release/cut"
	"github.com/example-inc/memcached-operator/scripts/release/plugin"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "release",
		Short: "Write the bundle and the catalog for OLM, and make releases",
		Long:  "Run it in the root of the repository. Each command checks its inputs before it writes anything.",
	}
	root.AddCommand(bundleCommand(), catalogCommand(), imageCommand(), prepareCommand(), distCommand(), renewCommand())
	root.AddCommand(operatorHubCommand(), refsCommand(), chartCommand(), pushCommand())
	for _, command := range root.Commands() {
		if command.Args == nil {
			command.Args = cobra.NoArgs
		}
	}
	return root
}

// releaseCommand adds the flags that define a release to a command.
func releaseCommand(command *cobra.Command) (*cobra.Command, *cut.Release) {
	r := &cut.Release{Root: ".", Platforms: oci.Platforms(), Computers: plugin.Platforms(), Build: oci.BuildAll}
	flags := command.Flags()
	flags.StringVar(&r.Version, "version", "", "version to release (required)")
	flags.StringVar(&r.Registry, "registry", "", "registry of all images, host and path (required)")
	bundle.MemcachedFlag(flags, &r.MemcachedImage)
	return command, r
}

func prepareCommand() *cobra.Command {
	command, r := releaseCommand(&cobra.Command{
		Use:   "prepare",
		Short: "Write a version, and the digests of its images, into every place of the tree that names them",
		Long: "Prepare needs a tree without changes. It builds the images of operator, agent and snapshot to learn their\n" +
			"digests; it asks no registry. If the agent has the same version as in the last release, that release's image " +
			"of it stays.\n" +
			"Prepare writes manifests, settings, documentation, bundle and catalog. It pushes, commits and tags nothing.",
		Example: "  go run ./scripts/release prepare --version 0.2.0 --registry registry.example.com/team --dry-run",
	})
	dryRun := command.Flags().Bool("dry-run", false, "write nothing, and report what would be written")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return r.Prepare(command.Context(), *dryRun, command.OutOrStdout())
	}
	return command
}

func distCommand() *cobra.Command {
	command, r := releaseCommand(&cobra.Command{
		Use:   "dist",
		Short: "Write a whole release into a folder, and push nothing",
		Long: "Dist makes a release of the commit that is checked out: manifests, images as OCI layouts, SBOMs, a list of\n" +
			"images for mirrors, the plugin of kubectl, release notes and checksums. It asks no registry, and does not\n" +
			"change the tree.\n" +
			"The same commit and the same version of Go make the same bytes.\n" +
			"The folder must be new, empty, or hold an earlier release, which is replaced.",
		Example: "  go run ./scripts/release dist --version 0.2.0 --registry registry.example.com/team --out dist",
	})
	command.Flags().StringVar(&r.Out, "out", "dist", "folder to write")
	names := command.Flags().StringSlice("platform", nil, "platforms of all programs, for a trial (default: all)")
	command.RunE = func(command *cobra.Command, _ []string) (err error) {
		if len(*names) > 0 {
			if r.Platforms, err = oci.ParsePlatforms(*names); err != nil {
				return err
			}
			r.Computers = r.Platforms
		}
		if err := r.Make(command.Context()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(command.OutOrStdout(), "%s holds the release %s. %[1]s/release-notes.md lists its images.\n\n"+
			"Next:\n  make release-push OUT=%[1]s\n", r.Out, r.Version)
		return err
	}
	return command
}

func pushCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "push",
		Short: "Push the images and the chart of a release that dist wrote, and nothing else",
		Long: "Push verifies the checksums of the release, and that the registry has no other image under its tags. It " +
			"pushes the images and the Helm\n" +
			"chart to the registry that the release was made for, and checks that the registry returns the same digests.\n" +
			"You can run it again.",
		Example: "  go run ./scripts/release push --out dist",
	}
	out := command.Flags().String("out", "dist", "folder with the release")
	command.RunE = func(command *cobra.Command, _ []string) error {
		return cut.Push(command.Context(), *out, command.OutOrStdout())
	}
	return command
}

func refsCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "refs",
		Short:   "Print the images of a release by digest, to sign them",
		Example: "  go run ./scripts/release refs --dir dist | xargs -n 1 cosign sign",
	}
	dir := command.Flags().String("dir", "dist", "folder of the release")
	sums := command.Flags().Bool("sums", false, "print digests and names in the format of sha256sum")
	command.RunE = func(command *cobra.Command, _ []string) error {
		release, err := cut.ReadRecord(*dir)
		if err != nil {
			return err
		}
		if len(release.Images) == 0 {
			return fmt.Errorf("release.json in %s lists no image: make the release again", *dir)
		}
		for _, image := range release.Images {
			line := image.ByDigest()
			if *sums {
				line = strings.TrimPrefix(image.Digest, "sha256:") + "  " + image.Repository
			}
			fmt.Fprintln(command.OutOrStdout(), line)
		}
		return nil
	}
	return command
}

func chartCommand() *cobra.Command {
	var o chart.Options
	command := &cobra.Command{
		Use:   "chart",
		Short: "Write the Helm chart from the manifests",
		Long: "Chart writes memcached-operator-VERSION.tgz. Its default values install what overlays/multiarch builds.\n" +
			"The same manifests and options make the same bytes.",
		Example: "  go run ./scripts/release chart --version 0.2.0 --out bin/charts \\\n" +
			"    --image registry.example.com/team/memcached-operator:0.2.0",
	}
	flags := command.Flags()
	flags.StringVar(&o.Version, "version", "", "version of chart and operator (required)")
	o.Flags(flags, "the operator's image (default: as in the manifests)")
	out := flags.String("out", "bin/charts", "folder to write to")
	command.RunE = func(command *cobra.Command, _ []string) error {
		path, _, err := chart.Write(".", *out, o)
		if err == nil {
			fmt.Fprintln(command.OutOrStdout(), path)
		}
		return err
	}
	return command
}
