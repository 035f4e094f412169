package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/dist"
)

func refsCommand() *cobra.Command {
	var dir string
	var sums bool
	command := &cobra.Command{
		Use:     "refs",
		Short:   "Print the images of a release by digest, for whoever signs them",
		Example: "  go run ./scripts/release refs --dir dist | xargs -n 1 cosign sign",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return printRefs(command.OutOrStdout(), dir, sums)
		},
	}
	command.Flags().StringVar(&dir, "dir", "dist", "folder of the release")
	command.Flags().BoolVar(&sums, "sums", false, "print digests and names as sha256sum does")
	return command
}

func printRefs(out io.Writer, dir string, sums bool) error {
	release, err := dist.ReadRecord(dir)
	if err != nil {
		return err
	}
	if len(release.Images) == 0 {
		return fmt.Errorf("release.json in %s lists no image: make the release once more", dir)
	}
	for _, image := range release.Images {
		if sums {
			fmt.Fprintf(out, "%s  %s\n", strings.TrimPrefix(image.Digest, "sha256:"), image.Repository)
		} else {
			fmt.Fprintf(out, "%s@%s\n", image.Repository, image.Digest)
		}
	}
	return nil
}
