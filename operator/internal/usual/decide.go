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

// skewed is by how much the clocks of two Nodes may differ: what is dated later was dated by a wrong one.
const skewed = time.Hour

// MomentOf returns what a report says. Agents of former releases do not report all of it.
func MomentOf(at time.Time, report usage.Report) Moment {
	values := Values{Unknown, none, Unknown, Unknown}
	switch {
	case report.Evicting:
		values[EvictionAge] = float64(report.EvictedAge)
	case report.EvictingCopied:
		values[EvictionAge] = Unknown
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
	return Moment{at, report.Pod, values}
}

// Input is what is found from.
type Input struct {
	Day Day

	// Moments are those of the last while, ascending, of Pods that are read since Since.
	Moments []Moment
	Since   time.Time

	// Idle: the cache is suspended or has no Pods, so that nobody is to report.
	Idle bool

	// QuietDays is how often an hour is learned before deviations from it count.
	QuietDays int64

	// Age is for how long items that are not used are to stay: that they stay for less than usual is no deviation while
	// they do.
	Age time.Duration

	Now time.Time
}

// Decide returns the day of now: with the hours that have passed, and the deviations of now.
func Decide(in Input) Day {
	day := in.Day
	switch {
	case day.Since.IsZero():
		day = New(in.Now)
	case day.Since.After(in.Now.Add(skewed)):
		day.Since = in.Now
	}
	day = day.learn(in.Moments, in.Now)
	deviations, compared := in.deviations(day)
	switch day.State = in.state(day, compared); day.State {
	case cachev1.ReasonLearning, cachev1.ReasonNotReported:
		day.Deviations = nil
	default:
		day.Deviations = deviations
	}
	return day
}

// state returns what is known, as a reason of the condition AsUsual; empty if it is as before.
func (in Input) state(day Day, compared bool) string {
	isSilent := len(in.Moments) == 0 || in.Now.Sub(in.Moments[len(in.Moments)-1].At) >= quarter
	switch {
	case in.Idle:
		return cachev1.ReasonNotReported
	case isSilent && in.Now.Sub(in.Since) >= quarter && !in.Since.IsZero():
		return cachev1.ReasonNotReported
	case in.Now.Before(day.QuietUntil(in.QuietDays)):
		return cachev1.ReasonLearning
	case compared:
		return cachev1.ReasonAsUsual
	case in.Since.IsZero(), in.Now.Sub(in.Since) < 2*quarter, len(day.Deviations) > 0:
		return ""
	}
	return cachev1.ReasonLearning
}

// QuietUntil returns when the first deviations may be reported.
func (d *Day) QuietUntil(days int64) time.Time {
	return d.Since.Add(time.Duration(days) * 24 * time.Hour)
}
