// Command images builds the project's container images without Docker, pushes them, and compares the platforms of
// images with those that the manifests promise.
package main

import (
	"cmp"
	"context"
	"fmt"
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
	insecure := root.PersistentFlags().Bool("insecure", false,
		"plain HTTP also to a registry that is not on this machine")
	options := func() []name.Option {
		if *insecure {
			return []name.Option{name.Insecure}
		}
		return nil
	}
	root.AddCommand(buildCommand(options), inspectCommand(options))
	return root
}

// builder builds the images of a command line.
type builder struct {
	version, suite string
	platforms      []v1.Platform // empty: the default of each image
}

// target is an image to build, and the reference to push it to, if any.
type target struct{ image, ref string }

// isReleased reports whether the image is released, for all platforms of a release and no others.
func (t target) isReleased() bool { return t.image == "operator" || t.image == "agent" }

func buildCommand(options func() []name.Option) *cobra.Command {
	b := &builder{}
	var platforms []string
	cmd := &cobra.Command{
		Use:   "build IMAGE[=REF]...",
		Short: "Build images, and push those that have a reference",
		Long: "IMAGE is one of:\n" +
			"  operator   for all platforms of a release\n" +
			"  agent      likewise; a REF without a tag gets its version, from operator/cmd/agent/VERSION\n" +
			"  memcached  from this machine's memcached and its libraries, or, with --platform or --suite, from Debian's\n" +
			"             packages that this machine's apt fetches; it installs nothing and runs nothing of other\n" +
			"             platforms. A REF without a tag gets memcached's version\n" +
			"  pause      holds a Pod's namespaces on the local cluster\n" +
			"  ./DIR      the Go program in a directory, for this machine's architecture\n" +
			"The same sources make the same bytes. Prints the digest of each image, after the reference that it was\n" +
			"pushed to. Checks all references before it pushes the first. Registries on this machine need no TLS.",
		Example: "  go run ./scripts/images build operator=localhost:15001/memcached-operator:0.1.0 \\\n" +
			"    agent=localhost:15001/memcached-agent --version 0.1.0\n" +
			"  go run ./scripts/images build memcached=registry.example.com/team/memcached \\\n" +
			"    --platform linux/arm64,linux/s390x --suite forky",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			targets, err := b.parse(args, platforms)
			if err != nil {
				return err
			}
			for _, t := range targets {
				result, err := b.publish(cmd.Context(), t, options()...)
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

// parse reads the arguments and the platforms.
func (b *builder) parse(args, platforms []string) (targets []target, err error) {
	pushed := map[string]bool{}
	var supported []v1.Platform
	for _, arg := range args {
		image, ref, push := strings.Cut(arg, "=")
		t := target{image: image, ref: ref}
		if !t.isReleased() && image != "memcached" && image != "pause" && !strings.HasPrefix(image, "./") {
			return nil, fmt.Errorf("image %q: choose from operator, agent, memcached, pause, and the directory of "+
				"a Go program, such as ./test/client", image)
		}
		if push {
			if err := bundle.ValidateTarget(image, withTag(ref, name.DefaultTag)); err != nil {
				return nil, err
			}
			if pushed[ref] {
				return nil, fmt.Errorf("%s: one image would replace another: name another repository", arg)
			}
			pushed[ref] = true
		}
		if t.isReleased() {
			supported = oci.Platforms()
		}
		targets = append(targets, t)
	}
	b.platforms, err = oci.ParsePlatforms(platforms, supported...)
	return targets, err
}

// publish returns the digest of what it built, after the reference that it pushed to: with the tag, which it may have
// chosen itself.
func (b *builder) publish(ctx context.Context, t target, options ...name.Option) (result string, err error) {
	err = progress.Stage(ctx, "Image "+t.image, func(update func(string)) error {
		index, version, err := b.build(ctx, t, update)
		if err != nil {
			return err
		}
		digest, err := index.Digest()
		if result = digest.String(); err != nil || t.ref == "" {
			return err
		}
		update("pushing")
		tagged := withTag(t.ref, cmp.Or(version, name.DefaultTag))
		result = tagged + "@" + result
		_, err = oci.Push(ctx, index, tagged, options...)
		return err
	})
	return result, err
}

// build returns an index of all platforms, and the version of the image if it has one.
func (b *builder) build(ctx context.Context, t target, update func(string)) (
	index v1.ImageIndex, version string, err error) {
	program := oci.Program{Package: t.image}
	switch t.image {
	case "memcached":
		return oci.Memcached(ctx, b.suite, b.platforms...)
	case "operator":
		program, version = oci.Operator(".", b.version), b.version
	case "agent":
		program, version, err = oci.Agent(".")
	case "pause":
		program = oci.Pause
	}
	if err != nil {
		return nil, "", err
	}
	platforms := b.platforms
	switch {
	case len(platforms) > 0:
	case t.isReleased():
		platforms = oci.Platforms()
	default:
		platforms = []v1.Platform{oci.Host()}
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

func inspectCommand(options func() []name.Option) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Compare the platforms of the images with those that the manifests promise",
		Long: "Asks the registries for all images that the manifests name: of the operator, the agent and memcached.\n" +
			"Fails if the node affinity, OPERAND_ARCHITECTURES or the labels of an overlay or the bundle promise an\n" +
			"architecture that an image does not have.",
		Example: "  go run ./scripts/images inspect --image localhost:15001/memcached-operator:0.1.0 \\\n" +
			"    --agent-image localhost:15001/memcached-agent:0.2.0 \\\n" +
			"    --memcached-image localhost:15001/memcached:1.6.18",
		Args: cobra.NoArgs,
	}
	operator := cmd.Flags().String("image", "", "the operator's image (default: that of the manifests)")
	agent := cmd.Flags().String("agent-image", "", "the agent's image (default: that of the manifests)")
	memcached := cmd.Flags().String("memcached-image", "", "memcached's default image (default: that of the manifests)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		promises, err := inspect.Promises(".")
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
		defer cancel()
		instead := map[string]string{inspect.Operator: *operator, inspect.Agent: *agent, inspect.Memcached: *memcached}
		return inspect.Compare(cmd.OutOrStdout(), promises, instead, func(ref string) (oci.Description, error) {
			return oci.Describe(ctx, ref, options()...)
		})
	}
	return cmd
}
