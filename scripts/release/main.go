// Command release writes the bundle and the catalog for OLM, and makes releases.
package main

import (
	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "release",
		Short:         "Write the bundle and the catalog for OLM, and make releases",
		Long:          "Run it in the root of the repository. Each command checks its inputs before it writes anything.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(bundleCommand(), catalogCommand(), imageCommand(), prepareCommand(), distCommand(), renewCommand())
	root.AddCommand(operatorHubCommand(), refsCommand(), chartCommand(), pushCommand())
	return root
}
