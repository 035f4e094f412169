package report

// Plots of bars, as inline SVG.

// Sizes of a plot, in the units of its view box. A label is above its bar, and the value to the right of it, so that
// letters are large enough on a phone, which shows the whole width.
const (
	width      = 480
	barWidth   = 360
	rowHeight  = 42
	lineHeight = 18
	barHeight  = 16
	gap        = 8

	// longestLabel is how many characters fit above a bar.
	longestLabel = 56
)

// Plot has a bar for each server, or for each size.
type Plot struct {
	Title string
	Bars  []Bar
}

// Bar is a value with its name.
type Bar struct {
	Label, Text string
	Length      float64 // in the units of the view box
	Row         int
}

// Add adds a bar. Its length is the value, until Scale. A long label is shown from its end, in which servers differ.
func (p *Plot) Add(label, text string, value float64) {
	if runes := []rune(label); len(runes) > longestLabel {
		label = "…" + string(runes[len(runes)-longestLabel+1:])
	}
	p.Bars = append(p.Bars, Bar{Label: label, Text: text, Length: value, Row: len(p.Bars)})
}

// Scale scales the bars: a bar of the highest value, or of most if that is higher, fills the width of the plot.
func (p *Plot) Scale(most float64) {
	for _, bar := range p.Bars {
		most = max(most, bar.Length)
	}
	for i := range p.Bars {
		if most > 0 {
			p.Bars[i].Length *= barWidth / most
		}
	}
}

// Width returns the width of the view box.
func (p Plot) Width() int { return width }

// Height returns the height of the view box.
func (p Plot) Height() int { return rowHeight * len(p.Bars) }

// End returns where the text of the value begins.
func (b Bar) End() float64 { return b.Length + gap }

// LabelMiddle returns the vertical middle of the label.
func (b Bar) LabelMiddle() int { return b.Row*rowHeight + lineHeight/2 }

// Top returns the upper end of the bar.
func (b Bar) Top() int { return b.Row*rowHeight + lineHeight }

// Middle returns the vertical middle of the bar and of its value.
func (b Bar) Middle() int { return b.Top() + barHeight/2 }

// Thickness returns the height of a bar, which is the same for all.
func (b Bar) Thickness() int { return barHeight }
