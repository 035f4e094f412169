package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

var header = []string{"figure", "measured", "must reach", "verdict"}

func (f Figure) cells() []string { return []string{f.Name, f.Measured, f.Want, string(f.Verdict)} }

// Text writes the figures as people read them on a terminal.
func (r Report) Text(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, strings.Join(header, "\t"))
	for _, row := range r {
		for _, figure := range row.Figures {
			fmt.Fprintln(table, strings.Join(figure.cells(), "\t"))
		}
	}
	return table.Flush()
}

// Markdown is the part of the page that a run writes anew.
func (r Report) Markdown() string {
	var page strings.Builder
	writeRow := func(cells []string) { fmt.Fprintf(&page, "| %s |\n", strings.Join(cells, " | ")) }
	writeRow(header)
	page.WriteString(strings.Repeat("| --- ", len(header)) + "|\n")
	for _, row := range r {
		for _, figure := range row.Figures {
			writeRow(figure.cells())
		}
	}
	page.WriteString("\nMeasured on:\n\n")
	for _, line := range r.machines() {
		fmt.Fprintf(&page, "- %s\n", line)
	}
	return page.String()
}

// machines tells where rows were measured. Those of one run stand together.
func (r Report) machines() []string {
	var lines []string
	for i := 0; i < len(r); {
		var names []string
		machine := r[i].Machine
		for ; i < len(r) && r[i].Machine == machine; i++ {
			names = append(names, r[i].Name)
		}
		lines = append(lines, fmt.Sprintf("%s: %s. Made by `%s`.", strings.Join(names, ", "), machine, machine.Command))
	}
	return lines
}

// What a run writes stands between these lines.
const (
	begin = "<!-- begin: make bench -->\n"
	end   = "<!-- end: make bench -->\n"
)

// ErrNoMarkers says that a page has no place for figures.
var ErrNoMarkers = errors.New("the page lacks the lines " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))

// Between replaces what stands between the markers of a page.
func Between(page, figures string) (string, error) {
	head, rest, opened := strings.Cut(page, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return "", ErrNoMarkers
	}
	return head + begin + "\n" + figures + "\n" + end + tail, nil
}

// WritePage writes the figures into a page.
func (r Report) WritePage(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := Between(string(content), r.Markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(page), 0o644)
}
