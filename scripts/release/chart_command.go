package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/release/chart"
)

func chartCommand() *cobra.Command {
	var o chart.Options
	var out string
	command := &cobra.Command{
		Use:   "chart",
		Short: "Write the Helm chart from the manifests",
		Long: "Chart writes memcached-operator-VERSION.tgz. Its default values install what overlays/multiarch builds.\n" +
			"The same manifests, options and time make the same bytes.",
		Example: "  go run ./scripts/release chart --version 0.2.0 --out bin/charts \\\n" +
			"    --image registry.example.com/team/memcached-operator:0.2.0",
		Args: cobra.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&o.Version, "version", "", "version of chart and operator (required)")
	flags.StringVar(&o.Operator, "image", "", "the operator's image (default: as in the manifests)")
	flags.StringVar(&o.Agent, "agent-image", "", "the agent's image (default: as in the manifests)")
	flags.StringVar(&o.Memcached, "memcached-image", "",
		"image of a Memcached that names none (default: as in the manifests)")
	flags.StringVar(&out, "out", "bin/charts", "folder to write to")
	command.RunE = func(command *cobra.Command, _ []string) error {
		path, err := chart.Write(".", out, o)
		if err == nil {
			fmt.Fprintln(command.OutOrStdout(), path)
		}
		return err
	}
	return command
}
