package image

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
)

// Tool is a program that builds images of a Dockerfile, and keeps them under their tag.
type Tool struct {
	Name string // docker, podman or buildah
	Ref  string // what the image is called
	Push bool   // it to the registry of that name
	HTTP bool   // without TLS, where the tool does not decide that by itself
	Dir  string
	Out  io.Writer
}

// BuildByTool makes the image by a container tool: podman and buildah for all architectures, docker for its own, as
// that is all that every docker can. Nothing in it runs, so no emulation is needed.
func (k Kind) BuildByTool(ctx context.Context, t Tool) error {
	commands, err := t.commands(k)
	if err != nil {
		return err
	}
	if t.Name != docker {
		// An earlier list of that name would get these images besides its own. Most often there is none.
		_ = t.command(ctx, []string{t.Name, "manifest", "rm", t.Ref}, nil).Run()
	}
	for _, args := range commands {
		if err := t.command(ctx, args, t.Out).Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
	}
	return nil
}

const docker = "docker"

func (t Tool) command(ctx context.Context, args []string, out io.Writer) *exec.Cmd {
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	// An attestation would be a platform more. Docker without BuildKit makes none, and refuses a flag against it.
	command.Env = append(os.Environ(), "BUILDX_NO_DEFAULT_ATTESTATIONS=1")
	command.Stdout, command.Stderr = out, out
	return command
}

func (t Tool) commands(k Kind) ([][]string, error) {
	from := []string{"--file", filepath.Join(t.Dir, k.dockerfile), t.Dir}
	var build, push []string
	switch t.Name {
	case docker:
		build = append([]string{docker, "build", "--tag", t.Ref}, from...)
		push = []string{docker, "push", t.Ref}
	case "podman", "buildah":
		// From its cache, podman would take the image of the first platform for all of them: the layers are the same.
		build = append([]string{t.Name, "build", "--no-cache", "--manifest", t.Ref, "--platform", platforms()}, from...)
		push = []string{t.Name, "manifest", "push", "--all"}
		if t.HTTP {
			push = append(push, "--tls-verify=false")
		}
		push = append(push, t.Ref, "docker://"+t.Ref)
	default:
		return nil, fmt.Errorf("--tool %q: docker, podman and buildah are possible, or none", t.Name)
	}
	if !t.Push {
		return [][]string{build}, nil
	}
	return [][]string{build, push}, nil
}

func platforms() string {
	var names []string
	for _, platform := range oci.Platforms() {
		names = append(names, platform.String())
	}
	return strings.Join(names, ",")
}
