package usual

// What a reconciliation finds.

import (
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// none is the eviction age of a Pod that evicts nothing, and the longest: a day.
const none = 24 * 60 * 60

// leastReads are the recent reads of a report whose hit ratio says something: one a second.
const leastReads = 300

// MomentOf returns what a report says. Agents of former releases do not report all of it.
func MomentOf(at time.Time, report usage.Report) Moment {
	values := Values{Unknown, none, Unknown, Unknown}
	if report.Evicting {
		values[EvictionAge] = float64(report.EvictedAge)
	}
	if report.Connections > 0 {
		values[Connections] = float64(report.Connections)
	}
	if report.Latency > 0 {
		values[Latency] = float64(report.Latency)
	}
	if report.RecentReads >= leastReads {
		values[HitRatio] = 100 * report.RecentHitRatio
	}
	for signal := range values {
		values[signal] = min(values[signal], Most[signal])
	}
	return Moment{at, values}
}

// skewed is by how much the clocks of two Nodes may differ: what is dated later was dated by a wrong one.
const skewed = time.Hour

// Input is what is found from.
type Input struct {
	Day Day

	// Moments are those of the last while, ascending, of Pods that are read since Since.
	Moments []Moment
	Since   time.Time

	// Quiet is for how long a day is learned before deviations count.
	Quiet time.Duration

	// Age is for how long items that are not used are to stay: that they stay for less than usual is no deviation while
	// they do.
	Age time.Duration

	Now time.Time
}

// Decide returns the day of now: with the hours that have passed, and the deviations of now.
func Decide(in Input) Day {
	day := in.Day
	if day.Since.IsZero() || day.Since.After(in.Now.Add(skewed)) {
		day = New(in.Now)
	}
	day = day.learn(in.Moments, in.Now)
	day.State = in.state(day)
	switch day.State {
	case cachev1.ReasonLearning:
		day.Deviations = nil
	case cachev1.ReasonAsUsual:
		day.Deviations = in.deviations(day)
	}
	return day
}

// state returns what is known, as a reason of the condition AsUsual.
func (in Input) state(day Day) string {
	switch {
	case in.Now.Before(day.Since.Add(in.Quiet)):
		return cachev1.ReasonLearning
	case in.isSilent() && !in.Since.IsZero() && in.Now.Sub(in.Since) >= quarter:
		return cachev1.ReasonNotReported
	}
	return cachev1.ReasonAsUsual
}

// isSilent reports whether too little was reported lately to compare anything.
func (in Input) isSilent() bool {
	for signal := range signals {
		if _, ok := median(in.Moments, signal, in.Now); ok {
			return false
		}
	}
	return true
}
