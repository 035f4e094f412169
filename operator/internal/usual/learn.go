package usual

// Learns an hour.

import (
	"math"
	"slices"
	"time"
)

const (
	// quarter is the time whose reports are taken together, and enough how many of them say something.
	quarter = 15 * time.Minute
	enough  = 5

	// remembered is for how many days an hour counts, by and by less.
	remembered = 14

	// week is the days in which all differences count as they are.
	week = 7

	// outlier is how many times the spread a difference counts at most.
	outlier = 3

	// Kept is for how long moments are needed.
	Kept = time.Hour + quarter
)

// learn returns the day after the last whole hour, if there are reports of it that were not learned.
func (d Day) learn(moments []Moment, now time.Time) Day {
	ends := now.UTC().Truncate(time.Hour)
	if !d.Learned.Before(ends) && !d.Learned.After(now.Add(skewed)) {
		return d
	}
	learned := d
	for signal := range signals {
		for quarters := range 4 {
			end := ends.Add(-time.Duration(3-quarters) * quarter)
			if value, ok := median(moments, signal, end); ok {
				learned.Learned = ends
				learned.add(signal, end.Add(-quarter/2), value, d)
			}
		}
	}
	return learned
}

// add learns a quarter of an hour, against what was usual before.
func (d *Day) add(signal int, at time.Time, value float64, before Day) {
	hour, former := &d.Hours[signal][at.Hour()], before.Hours[signal][at.Hour()]
	if former.Value < 0 {
		d.begin(signal, at, value)
		return
	}
	usual, _, ok := before.at(signal, at)
	if !ok {
		usual = level(signal, former.Value)
	}
	days := math.Floor(at.Sub(d.Since).Hours() / 24)
	share := 1 / (4 * min(remembered, 2+days))
	difference := level(signal, value) - usual
	if days >= week { // Before, it is unknown what is an outlier: a job that runs every night is none.
		most := outlier * max(former.Spread, before.spread(signal), least[signal])
		difference = min(max(difference, -most), most)
	}
	hour.Value = valueOf(signal, level(signal, hour.Value)+share*difference)
	hour.Spread += share * (math.Abs(difference) - hour.Spread)
}

// begin learns the first day: of that, each quarter counts the same.
func (d *Day) begin(signal int, at time.Time, value float64) {
	hour := &d.Hours[signal][at.Hour()]
	count := float64(at.Minute() / 15)
	if hour.Value < 0 {
		count = 0
	}
	sum := count * level(signal, max(hour.Value, 0))
	hour.Value = valueOf(signal, (sum+level(signal, value))/(count+1))
}

// median returns that of the reports of a quarter of an hour, if there are enough. Moments ascend.
func median(moments []Moment, signal int, end time.Time) (float64, bool) {
	var values []float64
	for _, moment := range slices.Backward(moments) {
		if end.Sub(moment.At) >= quarter {
			break
		}
		if value := moment.Values[signal]; value >= 0 && !moment.At.After(end) {
			values = append(values, value)
		}
	}
	if len(values) < enough {
		return Unknown, false
	}
	slices.Sort(values)
	return values[len(values)/2], true
}
