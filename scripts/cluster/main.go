// Cluster runs a whole Kubernetes cluster on this machine, without Docker.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
)

func main() { cli.Main(newCommand()) }

// flags are what the commands have in common.
type flags struct {
	name   string
	output string
}

func newCommand() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "cluster",
		Short: "Run a whole Kubernetes cluster on this machine, without Docker",
		Long: "Runs a control plane, a Node, DNS, an image registry, a Git repository and Argo CD on one Linux\n" +
			"machine, built from pinned Go modules. Nothing of it can reach beyond the machine, and nothing\n" +
			"is left of it after down. With simulated Nodes it is a control plane alone, on any machine and\n" +
			"without root, and nothing runs in its Pods. See docs/local-cluster.md.",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&f.name, "name", "demo", "name of the cluster; several may run at once")
	root.AddCommand(f.upCommand(), f.downCommand(), f.statusCommand(), f.envCommand(),
		buildCommand(), assetsCommand(), needsCommand(), superviseCommand())
	return root
}

func (f *flags) addOutput(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "text or json")
}

// print shows the rows of a table to people, or a value to programs.
func (f *flags) print(out io.Writer, value any, rows [][]string) error {
	switch f.output {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	case "text":
		return printTable(out, rows)
	}
	return fmt.Errorf("--output %q: choose text or json", f.output)
}

func printTable(out io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}
