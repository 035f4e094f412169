package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cluster/preflight"
)

func (f *flags) needsCommand() *cobra.Command {
	var install bool
	cmd := &cobra.Command{
		Use:   "needs PURPOSE",
		Short: "List the programs of this machine that a run needs, or install those that are missing",
		Long: "Lists what a run calls that is not built from Go modules, with the package of Debian and Ubuntu that has\n" +
			"it. With --install it installs by apt-get what is missing, all at once, and prints nothing where all is\n" +
			"there. The make target of the same name does that first.",
		Example: "  go run ./scripts/cluster needs demo\n" +
			"  go run ./scripts/cluster needs e2e -o json\n" +
			"  sudo go run ./scripts/cluster needs e2e-arch --install",
		Args: cobra.ExactArgs(1), ValidArgs: preflight.Purposes(),
		RunE: func(cmd *cobra.Command, args []string) error {
			needs, err := preflight.For(args[0])
			if err != nil {
				return err
			}
			if install {
				return preflight.Ensure(cmd.Context(), needs, true)
			}
			return f.printNeeds(cmd, needs)
		},
	}
	cmd.Flags().BoolVar(&install, "install", false, "install what is missing, as root")
	f.addOutput(cmd)
	return cmd
}

func (f *flags) printNeeds(cmd *cobra.Command, needs []preflight.Need) error {
	out := cmd.OutOrStdout()
	states := preflight.Look(needs)
	switch f.output {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(states)
	case "text":
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "PROGRAM\tPACKAGE\tINSTALLED\tWHY")
		for _, s := range states {
			fmt.Fprintf(table, "%s\t%s\t%t\tit %s\n", s.Program, s.Package, s.Installed, s.Why)
		}
		return table.Flush()
	}
	return fmt.Errorf("--output %q: choose text or json", f.output)
}
