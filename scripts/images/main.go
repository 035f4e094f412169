// Command images builds the project's container images without Docker, pushes them, and compares the platforms of
// images with those that the manifests promise.
package main

import (
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:          "images",
		Short:        "Build the project's container images without Docker, push them, and inspect pushed images",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
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
