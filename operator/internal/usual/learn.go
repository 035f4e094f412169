package usual

// Learns an hour.

import (
	"math"
	"slices"
	"time"
)

const (
	// quarter is the time whose reports are taken together, and enough how many reports are needed in it.
	quarter = 15 * time.Minute
	enough  = 5

	// remembered is the number of days over which the values of an hour count, with less and less weight.
	remembered = 14

	// week is the number of days in which differences count in full. Later, a difference counts as at most outlier
	// times the spread.
	week    = 7
	outlier = 3

	// Kept is how long moments are needed.
	Kept = time.Hour + quarter
)

// learn returns the day with the last whole hour learned. If that hour was learned before or has no reports, the day
// stays as it is.
func (d Day) learn(moments []Moment, now time.Time) Day {
	ends := now.UTC().Truncate(time.Hour)
	if !d.Learned.Before(ends) && !d.Learned.After(now.Add(skewed)) {
		return d
	}
	learned := d
	for signal := range signals {
		levels := map[time.Time]float64{}
		for end := ends; end.After(ends.Add(-time.Hour)); end = end.Add(-quarter) {
			if value, ok := median(moments, signal, end); ok {
				levels[end.Add(-quarter/2)] = level(signal, value)
			}
		}
		if len(levels) > 0 {
			learned.Learned = ends
			learned.Hours[signal][ends.Add(-time.Hour).Hour()] = d.next(signal, ends.Add(-time.Hour).Hour(), levels)
		}
	}
	return learned
}

// next returns the usual values of an hour after it was learned on another day. levels are the known values of that
// day, by quarters of the hour.
func (d *Day) next(signal, of int, levels map[time.Time]float64) Hour {
	hour, mean := d.Hours[signal][of], 0.
	for _, level := range levels {
		mean += level / float64(len(levels))
	}
	if hour.Value < 0 {
		return Hour{Value: valueOf(signal, mean), Days: 1}
	}
	most := math.Inf(1)
	if hour.Days >= week { // Before, no outliers are known: a job that runs every night is none.
		most = outlier * max(hour.Spread, d.spread(signal), least[signal])
	}
	usual, difference := level(signal, hour.Value), 0.
	for at, level := range levels {
		expected, _, ok := d.at(signal, at)
		if !ok {
			expected = usual
		}
		difference += min(math.Abs(level-expected), most) / float64(len(levels))
	}
	share := 1 / min(remembered, float64(hour.Days)+1)
	return Hour{
		Value:  valueOf(signal, usual+share*min(max(mean-usual, -most), most)),
		Spread: min(hour.Spread+share*(difference-hour.Spread), MostSpread),
		Days:   hour.Days + 1,
	}
}

// median returns the value of a quarter of an hour, if there are enough reports: the median of the Pods, each of which
// counts with the median of its reports. Moments ascend.
func median(moments []Moment, signal int, end time.Time) (float64, bool) {
	byPod, count := map[string][]float64{}, 0
	for _, moment := range slices.Backward(moments) {
		if end.Sub(moment.At) >= quarter {
			break
		}
		if value := moment.Values[signal]; value >= 0 && !moment.At.After(end) {
			byPod[moment.Pod] = append(byPod[moment.Pod], value)
			count++
		}
	}
	if count < enough {
		return Unknown, false
	}
	var pods []float64
	for _, values := range byPod {
		pods = append(pods, middle(values))
	}
	return middle(pods), true
}

// middle returns the value in the middle, or the mean of the two values there.
func middle(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
