package report

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ReadPage reads the figures that WritePage wrote, of all scenarios.
func ReadPage(path string) ([]Figure, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var figures []Figure
	inside := false
	for line := range strings.Lines(string(content)) {
		switch {
		case strings.HasPrefix(line, beginMarker):
			inside = true
		case strings.HasPrefix(line, endMarker):
			inside = false
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if inside && len(cells) == len(header) && !slices.Equal(cells, header) && cells[0] != "---" {
			figures = append(figures, Figure{
				Name: cells[0], Measured: cells[1], Want: strings.TrimSpace(cells[2]), Verdict: Verdict(cells[3]),
			})
		}
	}
	return figures, nil
}

// mostGrowth is by what share a figure may exceed the figure on the page. Numbers of allocations differ a little from
// run to run.
const mostGrowth = 0.05

// CheckGrowth returns an error if the figure with that name is more than 5 % larger than the figure on the page.
func CheckGrowth(page, now []Figure, name string) error {
	before, err := value(page, name)
	if err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	after, err := value(now, name)
	if err != nil {
		return err
	}
	if after > before*(1+mostGrowth) {
		return fmt.Errorf("%s: %s, and %s on the page: if that is intended, measure the page again",
			name, Number(after), Number(before))
	}
	return nil
}

// value returns the number with which the figure of this name begins.
func value(figures []Figure, name string) (float64, error) {
	i := slices.IndexFunc(figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("no figure is named %q", name)
	}
	number, _, _ := strings.Cut(figures[i].Measured, " ")
	parsed, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is no number", name, figures[i].Measured)
	}
	return parsed, nil
}
