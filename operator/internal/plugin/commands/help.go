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

// help makes the help of a command fit a terminal: its lines are wrapped, and the flags of a connection are only in the
// root's help, as with kubectl. The error about a wrong flag names the command for the help.
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
	// The shell loads completions of kubectl, but not of a plugin. docs/kubectl-memcached.md says how to load them.
	root.CompletionOptions.HiddenDefaultCmd = true
}
