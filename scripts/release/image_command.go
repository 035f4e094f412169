package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/image"
)

// imageFlags are those of the command image.
type imageFlags struct {
	dir, tag, tool string
	push, insecure bool
}

func imageCommand() *cobra.Command {
	f := &imageFlags{}
	kinds := map[string]image.Kind{"bundle": image.Bundle, "catalog": image.Catalog}
	command := &cobra.Command{
		Use:   "image bundle|catalog",
		Short: "Build the images that OLM reads, and push them",
		Long: "Image prints the reference by digest of the image that it built or pushed. It needs no container tool, and\n" +
			"then keeps nothing on this machine. Registries on this machine are used over plain HTTP.",
		Example: "  go run ./scripts/release image bundle \\\n" +
			"    --tag registry.example.com/team/memcached-operator-bundle:v0.1.0 --push",
		ValidArgs: slices.Sorted(maps.Keys(kinds)),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(command *cobra.Command, args []string) error {
			return f.run(command.Context(), kinds[args[0]], command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.tag, "tag", "", "the image, with registry and tag (required)")
	flags.BoolVar(&f.push, "push", false, "push it; without this it is only built")
	flags.BoolVar(&f.insecure, "insecure", false, "plain HTTP also to a registry that is not on this machine")
	flags.StringVar(&f.dir, "dir", bundle.Dir, "directory with the bundle and the catalog")
	flags.StringVar(&f.tool, "tool", "", "build and push by docker, podman or buildah, which keeps the image")
	return command
}

func (f *imageFlags) run(ctx context.Context, kind image.Kind, out, progress io.Writer) error {
	if err := bundle.ValidateTarget("tag", f.tag); err != nil {
		return err
	}
	switch f.tool {
	case "docker", "podman", "buildah":
		return f.byTool(ctx, kind, progress)
	case "":
	default:
		return fmt.Errorf("--tool %q: name docker, podman or buildah, or leave it out", f.tool)
	}
	index, err := kind.Build(f.dir)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if f.push {
		if _, err := oci.PushIndex(ctx, index, f.tag, nameOptions(f.insecure)...); err != nil {
			return fmt.Errorf("%w\nlog in by docker login or podman login if the registry requires it", err)
		}
	}
	_, err = fmt.Fprintf(out, "%s@%s\n", f.tag[:strings.LastIndex(f.tag, ":")], digest)
	return err
}

// byTool builds for all platforms with podman and buildah, and for its own with docker: not each docker can build more.
func (f *imageFlags) byTool(ctx context.Context, kind image.Kind, out io.Writer) error {
	run := func(args ...string) error {
		command := exec.CommandContext(ctx, f.tool, args...)
		// An attestation would be one more platform in the index.
		command.Env = append(os.Environ(), "BUILDX_NO_DEFAULT_ATTESTATIONS=1")
		command.Stdout, command.Stderr = out, out
		if err := command.Run(); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		return nil
	}
	build, push := []string{"build", "--tag", f.tag}, []string{"push", f.tag}
	if f.tool != "docker" {
		_ = run("manifest", "rm", f.tag) // The build would add to a list of that name. There may be none.
		// With its cache, podman would use the first platform's image for all: their layers are the same.
		build = []string{"build", "--no-cache", "--manifest", f.tag,
			"--platform", "linux/" + strings.Join(oci.Architectures(), ",linux/")}
		push = []string{"manifest", "push", "--all", f.tag, "docker://" + f.tag}
	}
	if err := run(append(build, "--file", filepath.Join(f.dir, string(kind)), f.dir)...); err != nil || !f.push {
		return err
	}
	return run(push...)
}
