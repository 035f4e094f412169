package usual

// The findings of a reconciliation.

import (
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// none is the eviction age of a Pod that evicts nothing, and the longest eviction age: a day.
const none = 24 * 60 * 60

// leastReads is how many recent reads a report needs, so that its hit ratio counts: one each second.
const leastReads = 300

// skewed is how much the clocks of two Nodes may differ. A time that is further in the future comes from a wrong clock.
const skewed = time.Hour

// MomentOf returns the values of a report. Agents of former releases do not report all of them.
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

// Input has the observations and settings on which a decision depends.
type Input struct {
	Day Day

	// Moments are the last moments (see Kept), in ascending order. Since is the time since which Pods are read.
	Moments []Moment
	Since   time.Time

	// Idle: the cache is suspended or has no Pods, so that no reports are expected.
	Idle bool

	// QuietDays is on how many days an hour is learned before deviations from it count.
	QuietDays int64

	// Age is how long unused items are to stay. If items stay for at least that time, it is no deviation that they stay
	// for less time than usual.
	Age time.Duration

	Now time.Time
}

// Decide returns the current day: with the hours that have been learned, and the current deviations.
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

// state returns the reason of the condition AsUsual; empty if the condition stays as it is.
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
