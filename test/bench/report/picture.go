package report

import (
	"fmt"
	"math"
	"strings"
)

// Curve has a value for each second, or for each of other equal periods. The value is NaN where it is not known.
type Curve struct {
	Name   string
	Values []float64
}

// Axis is the time of all panels.
type Axis struct {
	Marks []Mark
	Ends  string
}

// Mark is a moment at which something begins.
type Mark struct {
	Second int
	Text   string
}

// Panel is a plot of curves over the same time.
type Panel struct {
	Title  string
	Most   float64 // the value at the top
	Curves []Curve
}

// The sizes of the picture, in the units of the SVG. Curves have the classes c0, c1 and so on.
const (
	plotWidth, plotHeight = 760, 130
	left, panelHeight     = 70, 190

	style = `
    .c0 { stroke: #2a9d8f } .c1 { stroke: #e07a3f } polyline { fill: none; stroke-width: 2 } .axis { stroke: #7d8f94 }
    text { fill: #1b2b30 } .end { text-anchor: end } .mid { text-anchor: middle }
    @media (prefers-color-scheme: dark) { text { fill: #e6eef0 } .c0 { stroke: #5fd0c2 } .c1 { stroke: #f2a275 } }
  `
)

// Picture draws panels below each other, as SVG that is readable on light and on dark pages.
func Picture(title string, axis Axis, panels ...Panel) string {
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title"`+
		` font-family="system-ui, sans-serif" font-size="14">`+"\n  <title id=\"title\">%s</title>\n  <style>%s</style>\n",
		left+plotWidth+20, panelHeight*len(panels), title, style)
	for i, panel := range panels {
		fmt.Fprintf(&svg, "  <g transform=\"translate(%d %d)\">\n", left, i*panelHeight+30)
		panel.draw(&svg, axis)
		svg.WriteString("  </g>\n")
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

func (p Panel) draw(svg *strings.Builder, axis Axis) {
	seconds := 1
	for _, curve := range p.Curves {
		seconds = max(seconds, len(curve.Values)-1)
	}
	x := func(second int) float64 { return plotWidth * float64(second) / float64(seconds) }
	fmt.Fprintf(svg, "    <path class=\"axis\" fill=\"none\" d=\"M0 0V%d H%d", plotHeight, plotWidth)
	for _, mark := range axis.Marks {
		fmt.Fprintf(svg, " M%.1f 0V%d", x(mark.Second), plotHeight)
	}
	svg.WriteString("\"/>\n")
	fmt.Fprintf(svg, "    <text x=\"0\" y=\"-12\">%s</text>\n", p.Title)
	fmt.Fprintf(svg, "    <text class=\"end\" x=\"-6\" y=\"10\">%s</text><text class=\"end\" x=\"-6\" y=\"%d\">0</text>\n",
		Number(p.Most), plotHeight)
	svg.WriteString("    ")
	for _, mark := range axis.Marks {
		fmt.Fprintf(svg, "<text class=\"mid\" x=\"%.1f\" y=\"%d\">%s</text>", x(mark.Second), plotHeight+20, mark.Text)
	}
	fmt.Fprintf(svg, "<text class=\"end\" x=\"%d\" y=\"%d\">%s</text>\n", plotWidth, plotHeight+20, axis.Ends)
	for i, curve := range p.Curves {
		var points strings.Builder
		for second, value := range curve.Values {
			if !math.IsNaN(value) {
				fmt.Fprintf(&points, " %.1f,%.1f", x(second), plotHeight*(1-min(value/p.Most, 1)))
			}
		}
		fmt.Fprintf(svg, "    <polyline class=\"c%d\" points=\"%s\"/>\n", i, strings.TrimSpace(points.String()))
		fmt.Fprintf(svg, "    <path class=\"c%d\" stroke-width=\"3\" d=\"M%d -17h20\"/>"+
			"<text x=\"%d\" y=\"-12\">%s</text>\n", i, plotWidth-300+160*i, plotWidth-275+160*i, curve.Name)
	}
}
