// Package picture draws what a terminal shows, as SVG that is readable on light and on dark pages.
package picture

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Line is a line that a terminal shows, with the escape sequences of its colors.
type Line struct {
	Text string
	// After is the time from the first line to this line, in seconds.
	After float64
}

// Lines returns the lines of a text that was printed all in the same moment.
func Lines(text string) (lines []Line) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, Line{Text: line})
	}
	return lines
}

// These are the sizes in the picture, in units of the SVG.
const (
	letterWidth, lineHeight = 7.3, 17
	margin, barHeight       = 16, 28
)

// style has the CSS classes for the parameters of escape sequences (SGR): 1 is bold; 31, 32 and 33 are red, green and
// yellow.
const style = `
    .back { fill: #f3f6f7 } .bar { fill: #9fb3ba } text { fill: #1b2b30 }
    .s1 { font-weight: bold } .s31 { fill: #b3261e } .s32 { fill: #0b5a25 } .s33 { fill: #7a5200 }
    @media (prefers-color-scheme: dark) {
      .back { fill: #10242b } .bar { fill: #3d5a63 } text { fill: #d8e4e6 }
      .s31 { fill: #ff8a80 } .s32 { fill: #6fc3b8 } .s33 { fill: #e0b34a }
    }
    text { font: 12px ui-monospace, monospace; white-space: pre }
`

// animation is CSS that shows lines one after another. A line is dim before it is shown, but readable even if an
// animation does not run to its end.
const animation = `    text { animation: print 0.1s backwards } @keyframes print { from { opacity: 0.85 } }
    @media (prefers-reduced-motion) { text { animation: none } }
`

// Draw draws lines. Lines that begin with "$ " are commands, and are bold.
func Draw(title string, lines []Line) string {
	var texts strings.Builder
	letters, css := 0, style
	for i, line := range lines {
		plain := Plain(line.Text)
		letters = max(letters, utf8.RuneCountInString(plain))
		if plain == "" {
			continue
		}
		delay := ""
		if line.After > 0 {
			css, delay = style+animation, fmt.Sprintf(` style="animation-delay: %.1fs"`, line.After)
		}
		fmt.Fprintf(&texts, "  <text x=\"%d\" y=\"%d\"%s>%s</text>\n",
			margin, barHeight+(i+1)*lineHeight, delay, spans(line.Text))
	}
	width, height := int(float64(letters)*letterWidth)+2*margin, barHeight+len(lines)*lineHeight+margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title" xml:space="preserve">
  <title id="title">%s</title>
  <style>%s  </style>
  <rect class="back" width="%[1]d" height="%[2]d" rx="8"/>
  <g class="bar"><circle cx="18" cy="16" r="5"/><circle cx="34" cy="16" r="5"/><circle cx="50" cy="16" r="5"/></g>
%[5]s</svg>
`, width, height, html.EscapeString(title), css, &texts)
}

// colored matches the escape sequence of a color, and the text after it.
var colored = regexp.MustCompile("\x1b\\[([0-9]*)m([^\x1b]*)")

// Plain returns a text without the escape sequences of colors.
func Plain(text string) string { return colored.ReplaceAllString(text, "$2") }

// spans returns the parts of a line as SVG, with their CSS classes.
func spans(line string) string {
	if strings.HasPrefix(line, "$ ") {
		line = "\x1b[1m" + line
	}
	var out strings.Builder
	for _, part := range colored.FindAllStringSubmatch("\x1b[0m"+line, -1) {
		class, text := part[1], html.EscapeString(part[2])
		if text != "" && class != "" && class != "0" {
			text = fmt.Sprintf(`<tspan class="s%s">%s</tspan>`, class, text)
		}
		out.WriteString(text)
	}
	return out.String()
}
