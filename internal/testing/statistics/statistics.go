// Package statistics computes what the benchmarks and the test of a long load report about many measurements.
package statistics

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

	// Noise is the uncertainty of the slope: with a probability of 95 %, the true slope differs from Slope by less. It is
	// NaN for two points.
	Noise float64

	// Off is the largest distance of a point from the line, as a fraction of the line's y at that x.
	Off float64
}

// Fit fits a line to two points or more by least squares.
func Fit(xs, ys []float64) Line {
	n := float64(len(xs))
	var meanX, meanY, sumXX, sumXY, residuals float64
	for i := range xs {
		meanX, meanY = meanX+xs[i]/n, meanY+ys[i]/n
	}
	for i := range xs {
		sumXX, sumXY = sumXX+(xs[i]-meanX)*(xs[i]-meanX), sumXY+(xs[i]-meanX)*(ys[i]-meanY)
	}
	line := Line{Slope: sumXY / sumXX}
	line.Start = meanY - line.Slope*meanX
	for i := range xs {
		y := line.Start + line.Slope*xs[i]
		line.Off = max(line.Off, math.Abs(ys[i]-y)/y)
		residuals += (ys[i] - y) * (ys[i] - y)
	}
	line.Noise = 2 * math.Sqrt(residuals/(n-2)/sumXX)
	return line
}
