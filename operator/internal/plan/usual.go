package plan

// How the cache is used on a usual day.

import (
	"cmp"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/autoscale"
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

// Usage has the reports of Pods about how the cache is used.
type Usage struct {
	// Reports are the last reports, and Moments the measurements that are compared with the usual day.
	Reports autoscale.Reports
	Moments []usual.Moment
}

const (
	// defaultQuietDays and defaultAge are the defaults of the schema, the age in seconds.
	defaultQuietDays = 7
	defaultAge       = 3600

	thousandths = 1000
)

// usualDay compares the use of the cache with its usual day; nil if the use is not observed.
func (d Draft) usualDay() *usual.Day {
	spec := d.memcached.Spec
	if !ObservesUse(spec) {
		return nil
	}
	age := cmp.Or(orZero(spec.Autoscaling.Memory).EvictionAgeSeconds,
		orZero(spec.Autoscaling.Size).EvictionAgeSeconds, defaultAge)
	return new(usual.Decide(usual.Input{
		Day: recordedDay(d.memcached.Status), Moments: d.current.Usage.Moments, Since: d.current.Usage.Reports.Since,
		Idle: spec.Suspend || orDefault(spec.Size, 1) == 0, QuietDays: QuietDays(spec),
		Age: time.Duration(age) * time.Second, Now: d.defaults.Now,
	}))
}

// QuietDays returns on how many days an hour of the day is learned before deviations from it are reported.
func QuietDays(spec cachev1.MemcachedSpec) int64 {
	return int64(cmp.Or(orZero(spec.Autoscaling).QuietDays, defaultQuietDays))
}

// recordedDay returns the usual day that was learned so far, from the status.
func recordedDay(status cachev1.MemcachedStatus) usual.Day {
	recorded := orZero(status.Autoscaling).UsualDay
	if recorded == nil {
		return usual.Day{}
	}
	day := usual.New(recorded.Since.Time)
	if recorded.LearnedAt != nil {
		day.Learned = recorded.LearnedAt.Time
	}
	for _, deviation := range recorded.Deviations {
		if slices.Contains(usual.Reasons(), deviation.Reason) {
			day.Deviations = append(day.Deviations, usual.Deviation(deviation))
		}
	}
	for signal, name := range usual.Names {
		for _, learned := range recorded.Signals {
			if learned.Name == name {
				readHours(&day.Hours[signal], signal, learned)
			}
		}
	}
	return day
}

// readHours reads what was learned of a signal, unless another client changed the record.
func readHours(hours *[24]usual.Hour, signal int, learned cachev1.UsualSignal) {
	if len(learned.Usual) != len(hours) || len(learned.Spread) != len(hours) || len(learned.Days) != len(hours) {
		return
	}
	for hour := range hours {
		if learned.Usual[hour] >= 0 && learned.Spread[hour] >= 0 && learned.Days[hour] >= 0 {
			hours[hour] = usual.Hour{
				Value:  min(float64(learned.Usual[hour])/thousandths, usual.Most[signal]),
				Spread: min(float64(learned.Spread[hour])/thousandths, usual.MostSpread),
				Days:   learned.Days[hour],
			}
		}
	}
}

// RecordOf encodes a usual day for the status.
func RecordOf(day usual.Day) *cachev1.UsualDay {
	record := &cachev1.UsualDay{Since: metav1.NewTime(day.Since.Truncate(time.Second))}
	if !day.Learned.IsZero() {
		record.LearnedAt = new(metav1.NewTime(day.Learned))
	}
	for _, deviation := range day.Deviations {
		record.Deviations = append(record.Deviations, cachev1.Deviation(deviation))
	}
	for signal, hours := range day.Hours {
		if learned, ok := recordOfHours(hours); ok {
			learned.Name = usual.Names[signal]
			record.Signals = append(record.Signals, learned)
		}
	}
	return record
}

// recordOfHours records what was learned of a signal, if anything was.
func recordOfHours(hours [24]usual.Hour) (learned cachev1.UsualSignal, isKnown bool) {
	for _, hour := range hours {
		value := int64(usual.Unknown)
		if hour.Value >= 0 {
			value, isKnown = int64(math.Round(hour.Value*thousandths)), true
		}
		learned.Usual = append(learned.Usual, value)
		learned.Spread = append(learned.Spread, int64(math.Round(hour.Spread*thousandths)))
		learned.Days = append(learned.Days, hour.Days)
	}
	return learned, isKnown
}
