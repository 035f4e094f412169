// Package usual learns the usual day of a cache from what its Pods report, and finds deviations from it. It is pure.
//
// What is usual is a value and a spread for each hour of the day: averages over about two weeks, in which a single
// deviation counts little. A cache deviates if it does so by several times the spread for most of half an hour.
package usual

// What is compared, and how.

import (
	"math"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// The signals, which index Values and Day.Hours.
const (
	// HitRatio is how many reads found their item, in percent.
	HitRatio = iota

	// EvictionAge is for how long evicted items had not been used, in seconds.
	EvictionAge

	// Connections are the open ones of a Pod.
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

// Values are those of all signals.
type Values [signals]float64

// Moment is what a Pod reported.
type Moment struct {
	At     time.Time
	Pod    string
	Values Values
}

// Hour is what is usual in one hour of the day, by UTC.
type Hour struct {
	// Value is Unknown until the hour was learned once.
	Value float64

	// Spread is the mean difference from it: of the hit ratio in points, of others in doublings.
	Spread float64

	// Days is how often it was learned.
	Days int64
}

// Day is what is usual.
type Day struct {
	// Since is since when it is learned, and Learned the end of the last hour of which something was.
	Since, Learned time.Time

	Hours [signals][24]Hour

	// State is the reason of the condition AsUsual while nothing deviates: AsUsual, Learning or NotReported; empty if it
	// is as before, because the operator has just been started.
	State string

	// Deviations are those of now.
	Deviations []Deviation
}

// Deviation is one from what is usual.
type Deviation struct {
	Reason string

	// Message has the values of when it began.
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

// Most is the largest value of each signal, and MostSpread the largest spread: more than that can't be reported.
var Most = Values{HitRatio: 100, EvictionAge: none, Connections: 1 << 32, Latency: 1 << 32}

// MostSpread is also that of the hit ratio, which has at most 100 points.
const MostSpread = 100

// least is the smallest spread that counts, by signal: what differs by less harms nobody. Without it, a cache whose day
// is always the same would deviate by the first client that is new.
var least = Values{HitRatio: 0.5, EvictionAge: 0.1, Connections: 0.1, Latency: 0.2}

// level is a value on the scale of its spread.
func level(signal int, value float64) float64 {
	if signal == HitRatio {
		return value
	}
	return math.Log2(1 + value)
}

// valueOf is the value of a level.
func valueOf(signal int, level float64) float64 {
	if signal != HitRatio {
		level = math.Exp2(level) - 1
	}
	return min(max(level, 0), Most[signal])
}

// around returns the two hours between whose middles a time is, and how far it is on the way.
func around(at time.Time) (first, second int, part float64) {
	since := float64(at.UTC().Hour()) + float64(at.UTC().Minute())/60 + 23.5
	return int(since) % 24, int(since+1) % 24, since - math.Floor(since)
}

// at returns what is usual at a time, as a level: the middle of an hour has its value, and those between lie on a line.
// If one of the two hours is unknown, the other one counts.
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

// spread returns the mean one of a day: that of one hour is known by a few days only.
func (d *Day) spread(signal int) float64 {
	sum, known := 0., 0.
	for _, hour := range d.Hours[signal] {
		if hour.Value >= 0 {
			sum, known = sum+hour.Spread, known+1
		}
	}
	return sum / max(known, 1)
}
