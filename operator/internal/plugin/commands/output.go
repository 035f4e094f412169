package commands

// The flag --output of all commands.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// output is the value of --output: one of the formats, or empty for output that people read.
type output struct {
	format  string
	formats []string
}

var _ pflag.Value = &output{}

// addFlag adds the flag --output with the formats json and yaml, and with other formats.
func (o *output) addFlag(command *cobra.Command, others ...string) {
	o.formats = append([]string{"json", "yaml"}, others...)
	last := len(o.formats) - 1
	command.Flags().VarP(o, "output", "o",
		fmt.Sprintf("Output format: %s or %s.", strings.Join(o.formats[:last], ", "), o.formats[last]))
	_ = command.RegisterFlagCompletionFunc("output", // The flag exists.
		cobra.FixedCompletions(o.formats, cobra.ShellCompDirectiveNoFileComp))
}

// Set refuses a format that the command does not have.
func (o *output) Set(format string) error {
	if !slices.Contains(o.formats, format) {
		return fmt.Errorf("write one of %s", strings.Join(o.formats, ", "))
	}
	o.format = format
	return nil
}

// String returns the format.
func (o *output) String() string { return o.format }

// Type returns the name of the flag's value in the help.
func (o *output) Type() string { return "string" }

func (o *output) isWide() bool { return o.format == "wide" }

// isDocument reports whether the output is for programs.
func (o *output) isDocument() bool { return o.format == "json" || o.format == "yaml" }

// print prints a value as a document of a kind or, with forPeople, as text that people read.
func (p *plugin) print(o output, kind string, value any, forPeople func() error) error {
	if o.isDocument() {
		return p.screen.Document(o.format, kind, value)
	}
	return forPeople()
}

// items is a document with a list.
func items(list any) map[string]any { return map[string]any{"items": list} }
