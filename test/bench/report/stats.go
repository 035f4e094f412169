package report

import (
	"cmp"
	"math"
	"slices"
)

// Percentile returns the smallest of the values that at least p percent of them do not exceed (the nearest rank). It is
// not ok without values.
func Percentile[T cmp.Ordered](values []T, p float64) (found T, ok bool) {
	if len(values) == 0 {
		return found, false
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1], true
}

// Median returns the value in the middle, and of an even number of values the mean of the two in the middle. Without
// values it is NaN.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Line is a straight line: y = Start + Slope * x.
type Line struct {
	Start, Slope float64

	// Off is how far the farthest point is from the line, as a part of what the line says there.
	Off float64
}

// Fit lays a straight line through points by least squares. It takes two of them at least.
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
		there := line.Start + line.Slope*xs[i]
		line.Off = max(line.Off, math.Abs(ys[i]-there)/there)
	}
	return line
}
