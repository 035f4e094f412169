package main

import (
	"fmt"
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

func imageCommand() *cobra.Command {
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
	}
	flags := command.Flags()
	tag := flags.String("tag", "", "the image, with registry and tag (required)")
	push := flags.Bool("push", false, "push it; without this it is only built")
	insecure := flags.Bool("insecure", false, "plain HTTP also to a registry that is not on this machine")
	dir := flags.String("dir", bundle.Dir, "directory with the bundle and the catalog")
	tool := flags.String("tool", "", "build and push by docker, podman or buildah, which keeps the image")
	command.RunE = func(command *cobra.Command, args []string) error {
		if err := bundle.ValidateTarget("tag", *tag); err != nil {
			return err
		}
		if *tool != "" {
			return buildByTool(command, *tool, *dir, string(kinds[args[0]]), *tag, *push)
		}
		index, err := kinds[args[0]].Build(*dir)
		if err != nil {
			return err
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		if *push {
			if _, err := oci.PushIndex(command.Context(), index, *tag, nameOptions(*insecure)...); err != nil {
				return fmt.Errorf("%w\nlog in by docker login or podman login if the registry requires it", err)
			}
		}
		fmt.Fprintf(command.OutOrStdout(), "%s@%s\n", (*tag)[:strings.LastIndex(*tag, ":")], digest)
		return nil
	}
	return command
}

// buildByTool builds for all platforms with podman and buildah, and for its own with docker, as not every docker can
// build for more.
func buildByTool(command *cobra.Command, tool, dir, dockerfile, tag string, push bool) error {
	run := func(args ...string) error {
		called := exec.CommandContext(command.Context(), tool, args...)
		// An attestation would be one more platform in the index.
		called.Env = append(os.Environ(), "BUILDX_NO_DEFAULT_ATTESTATIONS=1")
		called.Stdout, called.Stderr = command.ErrOrStderr(), command.ErrOrStderr()
		if err := called.Run(); err != nil {
			return fmt.Errorf("%s: %w", called, err)
		}
		return nil
	}
	build, pushing := []string{"build", "--tag", tag}, []string{"push", tag}
	switch tool {
	case "docker":
	case "podman", "buildah":
		_ = run("manifest", "rm", tag) // The build would add to a list of that name. There may be none.
		// With its cache, podman would use the first platform's image for all: their layers are the same.
		build = []string{"build", "--no-cache", "--manifest", tag,
			"--platform", "linux/" + strings.Join(oci.Architectures(), ",linux/")}
		pushing = []string{"manifest", "push", "--all", tag, "docker://" + tag}
	default:
		return fmt.Errorf("--tool %q: name docker, podman or buildah, or omit it", tool)
	}
	if err := run(append(build, "--file", filepath.Join(dir, dockerfile), dir)...); err != nil || !push {
		return err
	}
	return run(pushing...)
}
