package screen

// Breaks texts and tables that are wider than the terminal, because the terminal would break them within words.

import (
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// indent is the beginning of a line that continues the line above.
const indent = "  "

// gap is the least number of spaces between two columns, as kubectl prints them.
const gap = 3

// Width returns how many characters a line has, or 0 if lines have no limit, as in a file.
func (s Screen) Width() int {
	file, isFile := s.Writer.(*os.File)
	if s.Columns > 0 || !s.Terminal || !isFile {
		return s.Columns
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Wrap breaks a text between words, on a terminal. Lines after the first begin with a prefix.
func (s Screen) Wrap(text, prefix string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, wrapped(strings.TrimSuffix(line, "\n"), s.Width(), prefix))
	}
	return strings.Join(lines, "\n")
}

// Reflow breaks a paragraph into lines of a terminal's width. If the output is no terminal, its lines stay as they are.
func (s Screen) Reflow(text string) string {
	if s.Width() == 0 {
		return text
	}
	return s.Wrap(strings.ReplaceAll(text, "\n", " "), "")
}

// wrapped breaks a line. A word that is longer than the width stays whole, so that it can be copied.
func wrapped(line string, width int, prefix string) string {
	if width <= 2*len(prefix) { // Nothing would fit.
		return line
	}
	var result strings.Builder
	used := 0
	for i, word := range strings.SplitAfter(line, " ") {
		length := utf8.RuneCountInString(strings.TrimSuffix(word, " "))
		if i > 0 && used+length > width && used > len(prefix) {
			result.WriteString("\n" + prefix)
			used = len(prefix)
		}
		result.WriteString(word)
		used += utf8.RuneCountInString(word)
	}
	return strings.ReplaceAll(result.String(), " \n", "\n")
}

// folded breaks the rows of a table between columns, and a column that is wider than the terminal between words.
func folded(table string, width int) string {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	longest := 0
	for _, line := range lines {
		longest = max(longest, utf8.RuneCountInString(line))
	}
	if width <= 0 || longest <= width {
		return table
	}
	starts := startsOf(lines[0], longest, width)
	var result strings.Builder
	for _, line := range lines {
		cells := []rune(line)
		for i, start := range starts[:len(starts)-1] {
			if start >= len(cells) {
				break
			}
			part := strings.TrimRight(string(cells[start:min(starts[i+1], len(cells))]), " ")
			if i > 0 {
				part = indent + part
			}
			result.WriteString(wrapped(part, width, indent+indent) + "\n")
		}
	}
	return result.String()
}

// startsOf returns where to break rows: before each column that does not fit any more. The last entry is the end of the
// rows.
func startsOf(header string, longest, width int) []int {
	columns := []int{0}
	for i := gap; i < len(header); i++ {
		if header[i] != ' ' && header[i-gap:i] == strings.Repeat(" ", gap) {
			columns = append(columns, i)
		}
	}
	columns = append(columns, longest+gap)
	starts := []int{0}
	for i, column := range columns[1 : len(columns)-1] {
		line := starts[len(starts)-1]
		used := columns[i+2] - gap - line
		if line > 0 {
			used += len(indent)
		}
		if used > width {
			starts = append(starts, column)
		}
	}
	return append(starts, longest)
}
