// Command versions compares each copy of a version, an image or a digest with its home, the one place where people
// change it.
package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/cli"
	"github.com/example-inc/memcached-operator/scripts/versions/facts"
)

func main() { cli.Main(newCommand()) }

func newCommand() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "versions",
		Short: "List the versions that the repository names, and write their copies",
		Long: "Each version, image and digest is written by hand in one file, its home. Other files, such as the\n" +
			"documentation, repeat some of them. The command lists the homes, and fails if a copy differs; with --write, it\n" +
			"changes the copies.",
		Example: "  go run ./scripts/versions\n  go run ./scripts/versions --write   # after a change in a home",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		found, err := facts.Read(cmd.Context(), ".")
		if err != nil {
			return err
		}
		for _, v := range found.Values {
			fmt.Fprintf(cmd.OutOrStdout(), "%-17s  %-12s  %3d copies of %s\n", v.Name, v.Text, v.Copies, v.Home)
		}
		if !write {
			return found.Err()
		}
		changed, err := found.Write()
		for _, name := range changed {
			fmt.Fprintln(cmd.OutOrStdout(), "written:", name)
		}
		return err
	}
	cmd.Flags().BoolVar(&write, "write", false, "change each copy to the value in its home")
	return cmd
}
