// Package report turns what was measured into verdicts, tables and a page. It measures nothing.
package report

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict says how a figure stands to what it must reach.
type Verdict string

// The verdicts.
const (
	Reached     Verdict = "reached"
	Missed      Verdict = "missed"
	Told        Verdict = "-" // nothing is demanded of the figure
	NotMeasured Verdict = "not measured"
)

// Figure is a line of the table.
type Figure struct {
	Name     string  `json:"figure"`
	Measured string  `json:"measured"`
	Want     string  `json:"mustReach,omitempty"`
	Verdict  Verdict `json:"verdict"`
}

// Bound is what a value must not exceed, or must reach.
type Bound struct {
	Value float64
	Unit  string
	Least bool // the value is to be at least this, not at most
}

// AtMost is a bound from above.
func AtMost(value float64, unit string) Bound { return Bound{Value: value, Unit: unit} }

// AtLeast is a bound from below.
func AtLeast(value float64, unit string) Bound { return Bound{Value: value, Unit: unit, Least: true} }

// String reads like "at most 1.5 times".
func (b Bound) String() string {
	word := "at most"
	if b.Least {
		word = "at least"
	}
	return strings.TrimSpace(word + " " + b.write(b.Value))
}

func (b Bound) write(value float64) string { return strings.TrimSpace(Number(value) + " " + b.Unit) }

func (b Bound) judge(value float64) Verdict {
	if b.Least && value >= b.Value || !b.Least && value <= b.Value {
		return Reached
	}
	return Missed
}

// Judge makes the figure of a value that has a bound. Details stand in brackets.
func Judge(name string, value float64, bound Bound, details ...string) Figure {
	return Figure{
		Name: name, Measured: bound.write(value) + brackets(details), Want: bound.String(), Verdict: bound.judge(value),
	}
}

// Tell makes the figure of a value without a bound.
func Tell(name string, value float64, unit string, details ...string) Figure {
	return Figure{Name: name, Measured: Bound{Unit: unit}.write(value) + brackets(details), Verdict: Told}
}

// Failed makes the figure of what could not be measured.
func Failed(name string, reason error) Figure {
	first, _, _ := strings.Cut(reason.Error(), "\n")
	return Figure{Name: name, Measured: first, Verdict: NotMeasured}
}

func brackets(details []string) string {
	if len(details) == 0 {
		return ""
	}
	return " (" + strings.Join(details, "; ") + ")"
}

// Number writes a value with three digits that count, and whole numbers in full.
func Number(value float64) string {
	switch {
	case value == float64(int64(value)), value >= 100, value <= -100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10, value <= -10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// Row is what was measured together, and where.
type Row struct {
	Name    string   `json:"row"`
	Machine Machine  `json:"machine"`
	Figures []Figure `json:"figures"`
}

// Report is all that was measured.
type Report []Row

// Merge returns the rows of both in the order of the names. A row of the later report takes the place of an earlier
// one; a row of no such name is gone.
func (r Report) Merge(later Report, order []string) Report {
	var merged Report
	for _, name := range order {
		for _, report := range []Report{later, r} {
			i := slices.IndexFunc(report, func(row Row) bool { return row.Name == name })
			if i >= 0 {
				merged = append(merged, report[i])
				break
			}
		}
	}
	return merged
}
