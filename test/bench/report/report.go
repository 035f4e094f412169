// Package report makes verdicts, tables and parts of a page from measured values. It measures nothing.
package report

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// Verdict compares a figure with its bound.
type Verdict string

// The verdicts.
const (
	Reached     Verdict = "reached"
	Missed      Verdict = "missed"
	Unbounded   Verdict = "-"
	NotMeasured Verdict = "not measured"
)

// Figure is a line of the table.
type Figure struct {
	Name, Measured, Want string
	Verdict              Verdict
}

// AtMost makes the figure of a value that must not exceed a bound. The details are shown in parentheses.
func AtMost(bound float64, unit, name string, value float64, details ...string) Figure {
	figure := Unjudged(name, value, unit, details...)
	figure.Want, figure.Verdict = strings.TrimSpace("at most "+Number(bound)+" "+unit), Missed
	if value <= bound {
		figure.Verdict = Reached
	}
	return figure
}

// Unjudged makes the figure of a value without a bound.
func Unjudged(name string, value float64, unit string, details ...string) Figure {
	measured := strings.TrimSpace(Number(value) + " " + unit)
	if len(details) > 0 {
		measured += " (" + strings.Join(details, "; ") + ")"
	}
	return Figure{Name: name, Measured: measured, Verdict: Unbounded}
}

// Failed makes the figure for something that could not be measured.
func Failed(name string, reason error) Figure {
	first, _, _ := strings.Cut(reason.Error(), "\n")
	return Figure{Name: name, Measured: first, Verdict: NotMeasured}
}

// Number formats whole numbers, and values from 100 on, without decimals, values from 10 on with one, and smaller
// values with two decimals.
func Number(value float64) string {
	switch {
	case value == float64(int64(value)), value >= 100, value <= -100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10, value <= -10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

var header = []string{"figure", "measured", "must reach", "verdict"}

func rows(figures []Figure) [][]string {
	var rows [][]string
	for _, figure := range figures {
		rows = append(rows, []string{figure.Name, figure.Measured, figure.Want, string(figure.Verdict)})
	}
	return rows
}

// Text writes figures for a terminal.
func Text(out io.Writer, figures []Figure) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, row := range append([][]string{header}, rows(figures)...) {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// The first characters of the markers around the figures of a scenario in a page.
const (
	beginMarker = "<!-- begin: make bench, "
	endMarker   = "<!-- end: make bench, "
)

// WritePage writes the figures of a scenario into a page, between its two markers, below the Markdown of a picture if
// it has one.
func WritePage(path, scenario, picture string, figures []Figure, measuredOn string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := beginMarker+scenario+" -->\n", endMarker+scenario+" -->\n"
	head, rest, opened := strings.Cut(string(content), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return fmt.Errorf("%s: no lines %q and %q", path, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	var table strings.Builder
	if picture != "" {
		fmt.Fprintf(&table, "%s\n\n", picture)
	}
	for _, row := range append([][]string{header, slices.Repeat([]string{"---"}, len(header))}, rows(figures)...) {
		fmt.Fprintf(&table, "| %s |\n", strings.Join(row, " | "))
	}
	page := fmt.Sprintf("%s%s\n%s\nMeasured on %s.\n\n%s%s", head, begin, &table, measuredOn, end, tail)
	return os.WriteFile(path, []byte(page), 0o644)
}
