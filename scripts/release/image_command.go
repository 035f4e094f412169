package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/distribution/reference"
	registry "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/images/oci"
	"github.com/example-inc/memcached-operator/scripts/progress"
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
	command := &cobra.Command{
		Use:   "image",
		Short: "Build the images that OLM reads, and push them",
		Long: "Image prints the reference by digest of what it built, which a registry has once it is pushed. Without a\n" +
			"container tool it keeps nothing on this machine. A tool keeps it, under its tag. Registries on this machine\n" +
			"are spoken to in plain HTTP.",
	}
	flags := command.PersistentFlags()
	flags.StringVar(&f.tag, "tag", "", "what the image is called, registry and tag (required)")
	flags.BoolVar(&f.push, "push", false, "push it there; without it the image is only built")
	flags.BoolVar(&f.insecure, "insecure", false, "plain HTTP also to a registry that is not on this machine")
	command.AddCommand(f.filesCommand("bundle", image.Bundle), f.filesCommand("catalog", image.Catalog))
	return command
}

func (f *imageFlags) filesCommand(name string, kind image.Kind) *cobra.Command {
	command := &cobra.Command{
		Use:   name,
		Short: "The image of the " + name,
		Example: "  go run ./scripts/release image " + name + " \\\n" +
			"    --tag registry.example.com/memcached-operator-" + name + ":v0.1.0 --push",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := bundle.ValidateTarget("tag", f.tag); err != nil {
				return err
			}
			if f.tool == "" {
				return f.publish(command, name, kind)
			}
			parsed, err := registry.ParseReference(f.tag, nameOptions(f.insecure)...)
			if err != nil {
				return err
			}
			return kind.BuildByTool(command.Context(), image.Tool{
				Name: f.tool, Ref: f.tag, Push: f.push, HTTP: parsed.Context().Scheme() == "http",
				Dir: f.dir, Out: command.ErrOrStderr(),
			})
		},
	}
	command.Flags().StringVar(&f.dir, "dir", bundle.Dir, "folder with the bundle and the catalog")
	command.Flags().StringVar(&f.tool, "tool", "", "docker, podman or buildah (default: none of them is needed)")
	return command
}

// publish builds an image, pushes it where that is asked for, and prints what came out.
func (f *imageFlags) publish(command *cobra.Command, name string, kind image.Kind) error {
	var result string
	err := progress.Stage(command.Context(), "Image of the "+name, func(update func(string)) error {
		index, err := kind.Build(f.dir)
		if err != nil {
			return err
		}
		if !f.push {
			result, err = f.reference(index)
			return err
		}
		update("pushing")
		result, err = f.pushIndex(command.Context(), index)
		return err
	})
	if err == nil {
		fmt.Fprintln(command.OutOrStdout(), result)
	}
	return err
}

// reference is what PushIndex would return.
func (f *imageFlags) reference(index v1.ImageIndex) (string, error) {
	named, err := reference.ParseNormalizedNamed(f.tag)
	if err != nil {
		return "", err
	}
	digest, err := digestOf(index)
	return reference.TrimNamed(named).Name() + "@" + digest, err
}

func digestOf(index v1.ImageIndex) (string, error) {
	digest, err := index.Digest()
	return digest.String(), err
}

func (f *imageFlags) pushIndex(ctx context.Context, index v1.ImageIndex) (string, error) {
	ref, err := oci.PushIndex(ctx, index, f.tag, nameOptions(f.insecure)...)
	if err != nil {
		return "", errors.Join(err, errors.New("log in by docker login or podman login if the registry asks for it"))
	}
	return ref, nil
}
