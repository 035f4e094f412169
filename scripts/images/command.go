package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
)

// flags are what the commands have in common.
type flags struct {
	push     string
	insecure bool
	platform string
	version  string
}

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "images",
		Short: "Build the project's container images without Docker, and push them",
		Long: "Builds images, the same bytes every time, and prints the reference by digest of what it pushed.\n" +
			"Registries on this machine are spoken to in plain HTTP.",
		SilenceUsage: true, SilenceErrors: true,
	}
	persistent := root.PersistentFlags()
	persistent.StringVar(&f.push, "push", "", "reference to push to; without it the image is only built")
	persistent.BoolVar(&f.insecure, "insecure", false, "plain HTTP also to a registry that is not on this machine")
	root.AddCommand(f.operatorCommand(), f.programCommand(), f.memcachedCommand(), f.pauseCommand())
	return root
}

func (f *flags) operatorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "operator",
		Short:   "The operator's image",
		Example: "  go run ./scripts/images operator --push localhost:15001/memcached-operator:dev",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.buildProgram(cmd, oci.Program{Package: "./operator/cmd/manager", LDFlags: "-X main.version=" + f.version})
		},
	}
	cmd.Flags().StringVar(&f.version, "version", "dev", "version that the operator reports")
	f.addPlatform(cmd)
	return cmd
}

func (f *flags) programCommand() *cobra.Command {
	var ldflags string
	cmd := &cobra.Command{
		Use:   "program PACKAGE",
		Short: "The image of any Go program",
		Example: "  go run ./scripts/images program ./test/e2e/client \\\n" +
			"    --push localhost:15001/client:dev --platform linux/arm64",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.buildProgram(cmd, oci.Program{Package: args[0], LDFlags: ldflags})
		},
	}
	cmd.Flags().StringVar(&ldflags, "ldflags", "", "further flags for the linker")
	f.addPlatform(cmd)
	return cmd
}

func (f *flags) memcachedCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "memcached",
		Short: "An image of this machine's memcached, shaped like the official one",
		Long: "Makes an image from the distribution's memcached and its libraries, for this machine's architecture.\n" +
			"A reference without a tag gets memcached's version as its tag.",
		Example: "  go run ./scripts/images memcached --push localhost:15001/memcached",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.publish(cmd, "memcached", func(ctx context.Context) (v1.Image, string, error) {
				return oci.Memcached(ctx)
			})
		},
	}
}

func (f *flags) pauseCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "pause",
		Short:   "The image that holds a Pod's namespaces",
		Example: "  go run ./scripts/images pause --push localhost:15001/pause:1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.publish(cmd, "pause", func(ctx context.Context) (v1.Image, string, error) {
				image, err := oci.Pause(ctx)
				return image, "", err
			})
		},
	}
}

func (f *flags) addPlatform(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.platform, "platform", oci.Host().String(), "platform of the image")
}

func (f *flags) buildProgram(cmd *cobra.Command, program oci.Program) error {
	platform, err := v1.ParsePlatform(f.platform)
	if err != nil {
		return err
	}
	if platform.OS == "" || platform.Architecture == "" {
		return errors.New("a platform is written like linux/arm64")
	}
	program.Platform = *platform
	title := fmt.Sprintf("%s for %s", program.Package, f.platform)
	return f.publish(cmd, title, func(ctx context.Context) (v1.Image, string, error) {
		image, err := program.Build(ctx)
		return image, f.version, err
	})
}

// publish builds an image, pushes it where that is asked for, and prints what came out.
func (f *flags) publish(cmd *cobra.Command, title string, build func(context.Context) (v1.Image, string, error)) error {
	var result string
	err := progress.Stage(cmd.Context(), "Image "+title, func(update func(string)) error {
		image, version, err := build(cmd.Context())
		if err != nil {
			return err
		}
		if f.push == "" {
			digest, err := image.Digest()
			result = digest.String()
			return err
		}
		update("pushing")
		result, err = oci.Push(cmd.Context(), image, withTag(f.push, version), f.options()...)
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
