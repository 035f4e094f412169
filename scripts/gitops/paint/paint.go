// Package paint colours what people read on a terminal, and nothing else.
package paint

import (
	"io"
	"os"

	"github.com/fatih/color"
)

// Colours paint texts, or leave them as they are.
type Colours struct{ Bold, Dim, Kind, Good, Warn, Bad func(string) string }

// For are colours for what is written to out: none where that is no terminal, or where NO_COLOR is set.
func For(out io.Writer) Colours { return New(out == io.Writer(os.Stdout) && !color.NoColor) }

// New are colours, or none.
func New(on bool) Colours {
	return Colours{
		Bold: with(on, color.Bold), Dim: with(on, color.Faint), Kind: with(on, color.FgCyan),
		Good: with(on, color.FgGreen), Warn: with(on, color.FgYellow), Bad: with(on, color.FgRed),
	}
}

func with(on bool, attribute color.Attribute) func(string) string {
	painter := color.New(attribute)
	if on {
		painter.EnableColor()
	} else {
		painter.DisableColor()
	}
	return func(text string) string {
		if text == "" {
			return ""
		}
		return painter.Sprint(text)
	}
}
