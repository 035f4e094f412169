// Package command runs the project's commands in tests, without a process.
package command

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/scripts/progress"
)

// Run runs a command and returns what it prints. Its errors and its progress go to the test's log.
func Run(t testing.TB, command *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(t.Output())
	err := command.ExecuteContext(progress.WithOutput(t.Context(), t.Output()))
	return out.String(), err
}
