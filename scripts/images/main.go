// Command images builds the project's container images without Docker, pushes them, and compares the platforms of
// images with those that the manifests promise.
package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/images/inspect"
	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "images",
		Short: "Build the project's container images without Docker, push them, and inspect pushed images",
	}
	root.AddCommand(buildCommand(), inspectCommand())
	return root
}

// builder builds the images of a command line.
type builder struct {
	version, suite string
	platforms      []v1.Platform // empty: the default platforms of each image
}

// target is an image to build, and the reference to push it to, if any.
type target struct{ image, ref string }

func buildCommand() *cobra.Command {
	b := &builder{}
	var platforms []string
	cmd := &cobra.Command{
		Use:   "build IMAGE[=REF]...",
		Short: "Build images, and push those that have a reference",
		Long: "IMAGE is one of:\n" +
			"  operator   built for all platforms of a release\n" +
			"  agent      built for the same platforms; a REF without a tag gets the agent's version, from " +
			"operator/cmd/agent/VERSION\n" +
			"  snapshot   the program that saves caches, built for the same platforms, with the operator's version\n" +
			"  memcached  made from this machine's memcached and its libraries, or, with --platform or --suite, from\n" +
			"             Debian's packages that this machine's apt fetches; it installs no package, and runs no program\n " +
			"            of other platforms. A REF without a tag gets memcached's version\n" +
			"The same sources make the same bytes. Build prints the digest of each image, after the reference\nto which it " +
			"pushed the image. It checks all references before it pushes the first one. Registries on this machine need " +
			"no TLS.",
		Example: "  go run ./scripts/images build operator=localhost:15001/memcached-operator:0.1.0 \\\n" +
			"    agent=localhost:15001/memcached-agent --version 0.1.0\n" +
			"  go run ./scripts/images build memcached=registry.example.com/team/memcached \\\n" +
			"    --platform linux/arm64,linux/s390x --suite forky",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			targets, err := parse(args)
			if err != nil {
				return err
			}
			if b.platforms, err = oci.ParsePlatforms(platforms); err != nil {
				return err
			}
			for _, t := range targets {
				result, err := b.publish(cmd.Context(), t)
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), result)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&platforms, "platform", nil, "platforms, such as linux/amd64,linux/arm64")
	cmd.Flags().StringVar(&b.version, "version", "dev", "version that the operator reports")
	cmd.Flags().StringVar(&b.suite, "suite", "", "suite of Debian, such as forky (default: this machine's)")
	return cmd
}

// images are the names of the images that can be built.
var images = []string{"operator", "agent", "snapshot", "memcached"}

// parse reads the arguments.
func parse(args []string) (targets []target, err error) {
	pushed := map[string]bool{}
	for _, arg := range args {
		image, ref, push := strings.Cut(arg, "=")
		if !slices.Contains(images, image) {
			return nil, fmt.Errorf("image %q: choose from %s", image, strings.Join(images, ", "))
		}
		if push {
			if err := bundle.ValidateTarget(image, withTag(ref, name.DefaultTag)); err != nil {
				return nil, err
			}
			if pushed[ref] {
				return nil, fmt.Errorf("%s: two images have the same repository, and one would replace the other: name "+
					"another repository", arg)
			}
			pushed[ref] = true
		}
		targets = append(targets, target{image, ref})
	}
	return targets, nil
}

// publish builds an image, and pushes it if the target has a reference. It returns the digest or, if it pushed the
// image, the reference with the digest. That reference has a tag, even if the target's reference has none.
func (b *builder) publish(ctx context.Context, t target) (result string, err error) {
	err = progress.Stage(ctx, "Image "+t.image, func(update func(string)) error {
		index, version, err := b.build(ctx, t.image, update)
		if err != nil {
			return err
		}
		digest, err := index.Digest()
		if result = digest.String(); err != nil || t.ref == "" {
			return err
		}
		update("pushing")
		tagged := withTag(t.ref, version)
		result = tagged + "@" + result
		_, err = oci.Push(ctx, index, tagged)
		return err
	})
	return result, err
}

// build returns an index of all platforms, and the version of the image.
func (b *builder) build(ctx context.Context, image string, update func(string)) (v1.ImageIndex, string, error) {
	if image == "memcached" {
		return oci.Memcached(ctx, b.suite, b.platforms...)
	}
	program, version := oci.Operator(".", b.version), b.version
	switch image {
	case "agent":
		var err error
		if program, version, err = oci.Agent("."); err != nil {
			return nil, "", err
		}
	case "snapshot":
		program = oci.Snapshot(".", b.version)
	}
	platforms := b.platforms
	if len(platforms) == 0 {
		platforms = oci.Platforms()
	}
	indexes, err := oci.BuildAll(ctx, platforms, update, program)
	if err != nil {
		return nil, "", err
	}
	return indexes[0], version, nil
}

// withTag adds a tag to a reference that has none.
func withTag(ref, tag string) string {
	if strings.ContainsAny(ref[strings.LastIndex(ref, "/")+1:], ":@") {
		return ref
	}
	return ref + ":" + tag
}

func inspectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Compare the platforms of the images with those that the manifests promise",
		Long: "Asks the registries for all images that the manifests name, such as those of the operator, the agent and " +
			"memcached.\n" +
			"Fails if the node affinity, OPERAND_ARCHITECTURES or the labels of an overlay or the bundle promise an\n" +
			"architecture that an image does not have.",
		Example: "  go run ./scripts/images inspect --image localhost:15001/memcached-operator:0.1.0 \\\n" +
			"    --agent-image localhost:15001/memcached-agent:0.2.0 \\\n" +
			"    --memcached-image localhost:15001/memcached:1.6.18",
		Args: cobra.NoArgs,
	}
	const inManifests = " (default: the one in the manifests)"
	instead := map[string]*string{
		inspect.Operator:  cmd.Flags().String("image", "", "the operator's image"+inManifests),
		inspect.Agent:     cmd.Flags().String("agent-image", "", "the agent's image"+inManifests),
		inspect.Snapshot:  cmd.Flags().String("snapshot-image", "", "the image that saves caches"+inManifests),
		inspect.Memcached: cmd.Flags().String("memcached-image", "", "memcached's default image"+inManifests),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		promises, err := inspect.Promises(".")
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
		defer cancel()
		for i, promise := range promises {
			if image := instead[promise.Name]; image != nil {
				promises[i].Reference = cmp.Or(*image, promise.Reference)
			}
		}
		return inspect.Compare(ctx, cmd.OutOrStdout(), promises)
	}
	return cmd
}
