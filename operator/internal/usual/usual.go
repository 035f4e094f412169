// Package usual learns the usual day of a cache from what its Pods report, and finds deviations from it. It is pure.
//
// What is usual is a value and a spread for each hour of the day: averages over about two weeks, in which a single
// deviation counts little. A cache deviates if a value differs from the usual one by several times the spread, for most
// of half an hour.
package usual

// The values that are compared, and how they are compared.

import (
	"math"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// The signals, which index Values and Day.Hours.
const (
	// HitRatio is the part of the reads that found their item, in percent.
	HitRatio = iota

	// EvictionAge is how long evicted items had not been used, in seconds.
	EvictionAge

	// Connections is the number of open connections of a Pod.
	Connections

	// Latency is how long memcached takes to answer its agent, in microseconds.
	Latency

	signals
)

// Names are the names of the signals in the API.
var Names = [signals]string{
	cachev1.SignalHitRatio, cachev1.SignalEvictionAge, cachev1.SignalConnections, cachev1.SignalLatency,
}

// Unknown is a value that nobody reported.
const Unknown = -1

// Values are the values of all signals.
type Values [signals]float64

// Moment has the values that a Pod reported at a time.
type Moment struct {
	At     time.Time
	Pod    string
	Values Values
}

// Hour has the usual values in one hour of the day, in UTC.
type Hour struct {
	// Value is Unknown until the hour was learned once.
	Value float64

	// Spread is the mean difference from Value: in points for the hit ratio, in doublings for the other signals.
	Spread float64

	// Days is on how many days the hour was learned.
	Days int64
}

// Day has the usual values for each hour of the day, and the deviations from them.
type Day struct {
	// Since is when the learning began, and Learned is the end of the last hour that was learned.
	Since, Learned time.Time

	Hours [signals][24]Hour

	// State is the reason of the condition AsUsual while nothing deviates: AsUsual, Learning or NotReported; empty if the
	// reason stays as it was, because the operator has just been started.
	State string

	// Deviations are the current deviations.
	Deviations []Deviation
}

// Deviation is a deviation from the usual values.
type Deviation struct {
	Reason string

	// Message has the values at the time when the deviation began.
	Message string
}

// New returns a day of which nothing is known.
func New(since time.Time) Day {
	day := Day{Since: since}
	for signal := range day.Hours {
		for hour := range day.Hours[signal] {
			day.Hours[signal][hour].Value = Unknown
		}
	}
	return day
}

// Most is the largest value of each signal that can be reported.
var Most = Values{HitRatio: 100, EvictionAge: none, Connections: 1 << 32, Latency: 1 << 32}

// MostSpread is the largest spread that can be reported for any signal. The hit ratio can have this spread, because its
// values are at most 100 points apart.
const MostSpread = 100

// least is the smallest spread that counts, by signal: smaller differences are harmless. Without such a minimum, one
// new client would be a deviation in a cache whose days are all the same.
var least = Values{HitRatio: 0.5, EvictionAge: 0.1, Connections: 0.1, Latency: 0.2}

// level converts a value to the scale of its spread.
func level(signal int, value float64) float64 {
	if signal == HitRatio {
		return value
	}
	return math.Log2(1 + value)
}

// valueOf converts a level back to the value.
func valueOf(signal int, level float64) float64 {
	if signal != HitRatio {
		level = math.Exp2(level) - 1
	}
	return min(max(level, 0), Most[signal])
}

// around returns the two hours between whose middles a time is, and which part of the way from the first to the second
// has passed.
func around(at time.Time) (first, second int, part float64) {
	since := float64(at.UTC().Hour()) + float64(at.UTC().Minute())/60 + 23.5
	return int(since) % 24, int(since+1) % 24, since - math.Floor(since)
}

// at returns the usual value at a time, as a level. The middle of an hour has the value of that hour, and values
// between two middles are on a line. If one of the two hours is unknown, the value of the other hour counts.
func (d *Day) at(signal int, at time.Time) (usual, spread float64, ok bool) {
	of, next, part := around(at)
	first, second := d.Hours[signal][of], d.Hours[signal][next]
	switch {
	case first.Value < 0 && second.Value < 0:
		return 0, 0, false
	case first.Value < 0:
		first = second
	case second.Value < 0:
		second = first
	}
	usual = level(signal, first.Value)*(1-part) + level(signal, second.Value)*part
	return usual, max(first.Spread, second.Spread, d.spread(signal), least[signal]), true
}

// isLearned reports whether the hours around a time were learned often enough, as far as they are known.
func (d *Day) isLearned(signal int, at time.Time, days int64) bool {
	first, second, _ := around(at)
	for _, of := range []int{first, second} {
		if hour := d.Hours[signal][of]; hour.Value >= 0 && hour.Days < days {
			return false
		}
	}
	return true
}

// spread returns the mean spread of a day, because the spread of one hour is known from a few days only.
func (d *Day) spread(signal int) float64 {
	sum, known := 0., 0.
	for _, hour := range d.Hours[signal] {
		if hour.Value >= 0 {
			sum, known = sum+hour.Spread, known+1
		}
	}
	return sum / max(known, 1)
}
