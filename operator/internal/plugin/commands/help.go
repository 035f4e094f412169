package commands

// The help of all commands.

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const (
	allFlags        = ".LocalFlags.FlagUsages"
	connectionFlags = "Global Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}"
)

// help makes the help of a command fit a terminal: it is wrapped, and those of a connection are in the root's help
// only, as with kubectl. A wrong flag leads to the help.
func (p *plugin) help(root *cobra.Command) {
	template := strings.NewReplacer(
		allFlags, fmt.Sprintf("%sWrapped %d", allFlags, p.screen.Width()),
		connectionFlags, "The flags of a connection, such as -n and --context, are those of kubectl:\n"+
			"see {{.Root.CommandPath}} --help.",
	).Replace(root.UsageTemplate())
	root.SetUsageTemplate(template)
	for _, command := range append(root.Commands(), root) {
		command.Long = p.screen.Reflow(command.Long)
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %s --help", err, command.CommandPath())
	})
	// The shell loads completions of kubectl, not of a plugin: docs/kubectl-memcached.md has how.
	root.CompletionOptions.HiddenDefaultCmd = true
}
