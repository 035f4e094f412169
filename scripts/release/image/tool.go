package image

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Tool is a program that builds images of a Dockerfile.
type Tool struct {
	Name string // docker, podman or buildah
	Ref  string // that the image is pushed to; empty: it is built and nothing else
	Dir  string
	Out  io.Writer
}

// local is what an image is called that is not pushed.
const local = "localhost/memcached-operator-image:build"

// BuildByTool makes the image of all architectures by a container tool. Nothing in it runs, so no emulation is needed.
func (k Kind) BuildByTool(ctx context.Context, t Tool) error {
	commands, err := t.commands(k)
	if err != nil {
		return err
	}
	for _, args := range commands {
		command := exec.CommandContext(ctx, args[0], args[1:]...)
		command.Stdout, command.Stderr = t.Out, t.Out
		if err := command.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

func (t Tool) commands(k Kind) ([][]string, error) {
	var platforms []string
	for _, platform := range oci.Platforms() {
		platforms = append(platforms, platform.String())
	}
	ref := t.Ref
	if ref == "" {
		ref = local
	}
	build := []string{"--platform", strings.Join(platforms, ","), "--file", filepath.Join(t.Dir, k.dockerfile)}
	switch t.Name {
	case "docker":
		build = append([]string{"docker", "buildx", "build", "--provenance=false", "--tag", ref}, build...)
		if t.Ref != "" {
			build = append(build, "--push")
		}
		return [][]string{append(build, t.Dir)}, nil
	case "podman", "buildah":
		build = append([]string{t.Name, "build", "--manifest", ref}, append(build, t.Dir)...)
		if t.Ref == "" {
			return [][]string{build}, nil
		}
		return [][]string{build, {t.Name, "manifest", "push", "--all", ref, "docker://" + ref}}, nil
	}
	return nil, fmt.Errorf("--tool %q: docker, podman and buildah are possible, or none", t.Name)
}
