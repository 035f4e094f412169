package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// flags are what the commands have in common.
type flags struct {
	push     string
	insecure bool
	version  string
}

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "images",
		Short: "Build the project's container images without Docker, push them, and inspect what was pushed",
		Long: "Builds images, the same bytes every time, and prints the reference of what it pushed, with tag and digest.\n" +
			"Registries on this machine are spoken to in plain HTTP.",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().BoolVar(&f.insecure, "insecure", false,
		"plain HTTP also to a registry that is not on this machine")
	for _, build := range []*cobra.Command{
		f.operatorCommand(), f.agentCommand(), f.programCommand(), f.memcachedCommand(), f.pauseCommand(),
	} {
		build.Flags().StringVar(&f.push, "push", "", "reference to push to; without it the image is only built")
		root.AddCommand(build)
	}
	root.AddCommand(f.inspectCommand(), checkCommand())
	return root
}

func (f *flags) operatorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "operator",
		Short:   "The operator's image, an index of all platforms",
		Example: "  go run ./scripts/images operator --version 0.1.0 --push localhost:15001/memcached-operator",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			platforms, err := platformsOf(cmd, oci.Platforms()...)
			if err != nil {
				return err
			}
			return f.publish(cmd, "operator", func(ctx context.Context, update func(string)) (built, error) {
				index, err := oci.Operator(".", f.version).BuildAll(ctx, platforms, update)
				return built{index: index, version: f.version}, err
			})
		},
	}
	cmd.Flags().StringVar(&f.version, "version", "dev", "version that the operator reports")
	addPlatforms(cmd, oci.Platforms()...)
	return cmd
}

func (f *flags) agentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "The agent's image, an index of all platforms",
		Long: "Makes the image of what runs beside memcached. A reference without a tag gets the agent's version as its\n" +
			"tag, from operator/cmd/agent/VERSION.",
		Example: "  go run ./scripts/images agent --push localhost:15001/memcached-agent",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			platforms, err := platformsOf(cmd, oci.Platforms()...)
			if err != nil {
				return err
			}
			return f.publish(cmd, "agent", func(ctx context.Context, update func(string)) (built, error) {
				program, version, err := oci.Agent(".")
				if err != nil {
					return built{}, err
				}
				index, err := program.BuildAll(ctx, platforms, update)
				return built{index: index, version: version}, err
			})
		},
	}
	addPlatforms(cmd, oci.Platforms()...)
	return cmd
}

func (f *flags) programCommand() *cobra.Command {
	var ldflags string
	cmd := &cobra.Command{
		Use:   "program PACKAGE",
		Short: "The image of any Go program, an index of the platforms",
		Example: "  go run ./scripts/images program ./test/client \\\n" +
			"    --push localhost:15001/client:dev --platform linux/amd64,linux/arm64",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			platforms, err := platformsOf(cmd)
			if err != nil {
				return err
			}
			program := oci.Program{Package: args[0], LDFlags: ldflags}
			return f.publish(cmd, args[0], func(ctx context.Context, update func(string)) (built, error) {
				index, err := program.BuildAll(ctx, platforms, update)
				return built{index: index}, err
			})
		},
	}
	cmd.Flags().StringVar(&ldflags, "ldflags", "", "further flags for the linker")
	addPlatforms(cmd, oci.Host())
	return cmd
}

func (f *flags) memcachedCommand() *cobra.Command {
	var suite string
	cmd := &cobra.Command{
		Use:   "memcached",
		Short: "An image of the distribution's memcached, shaped like the official one",
		Long: "Makes an image from this machine's memcached and its libraries. With --platform it makes an index of\n" +
			"several platforms, from the packages of Debian's memcached that this machine's apt fetches. Nothing is\n" +
			"installed, and nothing of other platforms is run.\n" +
			"A reference without a tag gets memcached's version as its tag.",
		Example: "  go run ./scripts/images memcached --push localhost:15001/memcached\n" +
			"  go run ./scripts/images memcached --platform linux/arm64,linux/s390x --suite trixie \\\n" +
			"    --push registry.example.com/team/memcached",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			platforms, err := platformsOf(cmd)
			if err != nil {
				return err
			}
			return f.publish(cmd, "memcached", func(ctx context.Context, _ func(string)) (b built, err error) {
				if len(platforms) == 0 && suite == "" {
					b.image, b.version, err = oci.Memcached(ctx)
					return b, err
				}
				if len(platforms) == 0 {
					platforms = []v1.Platform{oci.Host()}
				}
				b.index, b.version, err = oci.MemcachedIndex(ctx, platforms, suite)
				return b, err
			})
		},
	}
	addPlatforms(cmd)
	cmd.Flags().StringVar(&suite, "suite", "", "suite of Debian that packages are from (default: the machine's own)")
	return cmd
}

func (f *flags) pauseCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "pause",
		Short:   "The image that holds a Pod's namespaces",
		Example: "  go run ./scripts/images pause --push localhost:15001/pause:1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.publish(cmd, "pause", func(ctx context.Context, _ func(string)) (built, error) {
				image, err := oci.Pause(ctx)
				return built{image: image}, err
			})
		},
	}
}

// addPlatforms gives a command a flag of its own: one variable for several flags would have the default of the last.
func addPlatforms(cmd *cobra.Command, platforms ...v1.Platform) {
	var names []string
	for _, platform := range platforms {
		names = append(names, platform.String())
	}
	cmd.Flags().StringSlice(platformFlag, names, "platforms of the image, with commas between them")
}

const platformFlag = "platform"

// platformsOf reads the flag. Where some platforms alone are supported, it takes no others.
func platformsOf(cmd *cobra.Command, supported ...v1.Platform) ([]v1.Platform, error) {
	names, err := cmd.Flags().GetStringSlice(platformFlag)
	if err != nil {
		return nil, err
	}
	return oci.ParsePlatforms(names, supported...)
}

// built is an image, or the index of several, and the tag that it suggests.
type built struct {
	image   v1.Image
	index   v1.ImageIndex
	version string
}

func (b built) digest() (v1.Hash, error) {
	if b.index != nil {
		return b.index.Digest()
	}
	return b.image.Digest()
}

// push returns the reference with tag and digest: who pushed without a tag learns which one was suggested.
func (b built) push(ctx context.Context, ref string, options ...name.Option) (pushed string, err error) {
	tagged := withTag(withTag(ref, b.version), name.DefaultTag)
	if b.index != nil {
		pushed, err = oci.PushIndex(ctx, b.index, tagged, options...)
	} else {
		pushed, err = oci.Push(ctx, b.image, tagged, options...)
	}
	if err != nil {
		return "", err
	}
	return tagged + pushed[strings.LastIndex(pushed, "@"):], nil
}

// publish builds an image, pushes it where that is asked for, and prints what came out.
func (f *flags) publish(
	cmd *cobra.Command, title string, build func(context.Context, func(string)) (built, error),
) error {
	if f.push != "" {
		if err := bundle.ValidateTarget("push", withTag(f.push, "latest")); err != nil {
			return err
		}
	}
	var result string
	err := progress.Stage(cmd.Context(), "Image "+title, func(update func(string)) error {
		b, err := build(cmd.Context(), update)
		if err != nil {
			return err
		}
		if f.push == "" {
			digest, err := b.digest()
			result = digest.String()
			return err
		}
		update("pushing")
		result, err = b.push(cmd.Context(), f.push, f.options()...)
		return err
	})
	if err == nil {
		fmt.Fprintln(cmd.OutOrStdout(), result)
	}
	return err
}

func (f *flags) options() []name.Option {
	if f.insecure {
		return []name.Option{name.Insecure}
	}
	return nil
}

// withTag adds the tag that an image suggests to a reference that has none.
func withTag(ref, tag string) string {
	repository := ref[strings.LastIndex(ref, "/")+1:]
	if tag == "" || strings.ContainsAny(repository, ":@") {
		return ref
	}
	return ref + ":" + tag
}
