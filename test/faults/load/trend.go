package load

import (
	"math"
	"time"
)

// Trend is a straight line through samples, by least squares.
type Trend struct {
	Mean   float64 // of the values
	Growth float64 // of the line, from the first sample to the last
	Noise  float64 // of the growth: with a probability of 95 %, the true growth differs by less
}

// trend returns that of values sampled at these times.
func trend(at []time.Duration, values []float64) Trend {
	n := float64(len(values))
	if n < 3 {
		return Trend{Noise: math.Inf(1)}
	}
	var meanX, meanY float64
	for i := range values {
		meanX += at[i].Seconds() / n
		meanY += values[i] / n
	}
	var sumXX, sumXY, residuals float64
	for i := range values {
		x, y := at[i].Seconds()-meanX, values[i]-meanY
		sumXX, sumXY = sumXX+x*x, sumXY+x*y
	}
	slope := sumXY / sumXX
	for i := range values {
		residual := values[i] - meanY - slope*(at[i].Seconds()-meanX)
		residuals += residual * residual
	}
	window := (at[len(at)-1] - at[0]).Seconds()
	return Trend{Mean: meanY, Growth: slope * window, Noise: 2 * window * math.Sqrt(residuals/(n-2)/sumXX)}
}

// negligible is the growth, relative to the mean, that is called flat although it is more than noise: the heap also
// holds what the caches of the moment need, which is never exactly the same.
const negligible = 0.02

// Flat reports whether the growth is within noise, or negligible.
func (t Trend) Flat() bool { return t.Growth-t.Noise <= negligible*t.Mean }
