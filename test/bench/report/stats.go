package report

import (
	"math"
	"slices"
)

// Percentile returns the smallest of the values that at least p percent of them do not exceed (the nearest rank).
// Without values it is NaN.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	rank := int(math.Ceil(p / 100 * float64(len(values))))
	return slices.Sorted(slices.Values(values))[max(rank, 1)-1]
}

// Median is the 50th percentile.
func Median(values []float64) float64 { return Percentile(values, 50) }

// Line is a straight line: y = Start + Slope * x.
type Line struct {
	Start, Slope float64

	// Off is the largest distance of a point from the line, as a part of the line's y there.
	Off float64
}

// Fit fits a line to two points or more by least squares.
func Fit(xs, ys []float64) Line {
	n := float64(len(xs))
	var sumX, sumY, sumXX, sumXY float64
	for i := range xs {
		sumX, sumY = sumX+xs[i], sumY+ys[i]
		sumXX, sumXY = sumXX+xs[i]*xs[i], sumXY+xs[i]*ys[i]
	}
	line := Line{Slope: (n*sumXY - sumX*sumY) / (n*sumXX - sumX*sumX)}
	line.Start = (sumY - line.Slope*sumX) / n
	for i := range xs {
		y := line.Start + line.Slope*xs[i]
		line.Off = max(line.Off, math.Abs(ys[i]-y)/y)
	}
	return line
}
