package load

import (
	"fmt"
	"math"
	"time"

	"github.com/example-inc/memcached-operator/internal/testing/statistics"
)

// Trend is a straight line through samples, by least squares.
type Trend struct {
	Samples int
	Mean    float64 // of the values
	Growth  float64 // growth of the line from the first sample to the last
	Noise   float64 // with a probability of 95 %, the true growth differs from Growth by less
}

// least returns the least value of each period, and when it was sampled. An outage raises the values only for a while,
// for example when all caches are read again. A leak raises the least values, too.
func least(at []time.Duration, values []float64, period time.Duration) (times []time.Duration, leasts []float64) {
	for i := range values {
		last := len(times) - 1
		switch {
		case last < 0 || at[i]/period != times[last]/period:
			times, leasts = append(times, at[i]), append(leasts, values[i])
		case values[i] < leasts[last]:
			times[last], leasts[last] = at[i], values[i]
		}
	}
	return times, leasts
}

// trend returns the trend of values that were sampled at these times.
func trend(at []time.Duration, values []float64) Trend {
	if len(values) < 3 {
		return Trend{Samples: len(values), Noise: math.Inf(1)}
	}
	var seconds []float64
	var mean float64
	for i := range values {
		seconds = append(seconds, at[i].Seconds())
		mean += values[i] / float64(len(values))
	}
	line, window := statistics.Fit(seconds, values), (at[len(at)-1] - at[0]).Seconds()
	return Trend{Samples: len(values), Mean: mean, Growth: line.Slope * window, Noise: line.Noise * window}
}

const (
	// leastSamples is the number of samples from which on the noise of the line is meaningful.
	leastSamples = 10

	// mostNoise is the noise, relative to the mean, above which a leak could hide.
	mostNoise = 0.1
)

// Judge returns an error if the values grow by more than is negligible, or if the samples cannot show that.
func (t Trend) Judge(what string, negligible float64) error {
	switch {
	case t.Samples < leastSamples:
		return fmt.Errorf("%s: not enough samples: %d, and at least %d are needed: use a longer --for",
			what, t.Samples, leastSamples)
	case t.Growth-t.Noise > negligible:
		return fmt.Errorf("%s: the value grows by %.3g ± %.3g during the load, "+
			"with an average of %.3g, so the operator leaks memory",
			what, t.Growth, t.Noise, t.Mean)
	case t.Noise > mostNoise*t.Mean:
		return fmt.Errorf("%s: not enough samples: the noise, %.3g, is more than a tenth of the average, %.3g: "+
			"use a longer --for", what, t.Noise, t.Mean)
	}
	return nil
}
