package plan

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/usual"
)

// TestTheStatusKeepsAUsualDay with the precision with which the operator compares it.
func TestTheStatusKeepsAUsualDay(t *testing.T) {
	since := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	day := usual.New(since)
	day.Learned = since.Add(time.Hour)
	day.Hours[usual.HitRatio][3] = usual.Hour{Value: 97.125, Spread: 0.75, Days: 9}
	day.Hours[usual.Latency][23] = usual.Hour{Value: 0}
	day.Deviations = []usual.Deviation{{Reason: "HitRatioFell", Message: "10 %"}}
	record := RecordOf(day)
	status := cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{UsualDay: record}}
	if diff := cmp.Diff(day, recordedDay(status)); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if diff := cmp.Diff(record, RecordOf(recordedDay(status))); diff != "" {
		t.Errorf("a record that is read is written otherwise (-before +after):\n%s", diff)
	}
}

func TestARecordThatAnotherClientChangedIsUnknown(t *testing.T) {
	hours := func(count int, value int64) (list []int64) {
		for range count {
			list = append(list, value)
		}
		return list
	}
	tests := map[string]struct {
		signal cachev1.UsualSignal
		want   float64
	}{
		"as written":          {cachev1.UsualSignal{Name: "HitRatio", Usual: hours(24, 5000), Spread: hours(24, 1), Days: hours(24, 9)}, 5},
		"hours are missing":   {cachev1.UsualSignal{Name: "HitRatio", Usual: hours(23, 5000), Spread: hours(23, 1)}, usual.Unknown},
		"a spread is missing": {cachev1.UsualSignal{Name: "HitRatio", Usual: hours(24, 5000), Days: hours(24, 9)}, usual.Unknown},
		"days are missing":    {cachev1.UsualSignal{Name: "HitRatio", Usual: hours(24, 5000), Spread: hours(24, 1)}, usual.Unknown},
		"a negative spread":   {cachev1.UsualSignal{Name: "HitRatio", Usual: hours(24, 5000), Spread: hours(24, -1), Days: hours(24, 9)}, usual.Unknown},
		"another signal":      {cachev1.UsualSignal{Name: "Moon", Usual: hours(24, 5000), Spread: hours(24, 1), Days: hours(24, 9)}, usual.Unknown},
		"too much":            {cachev1.UsualSignal{Name: "HitRatio", Usual: hours(24, math.MaxInt64), Spread: hours(24, 1), Days: hours(24, 9)}, 100},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			day := recordedDay(cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{UsualDay: &cachev1.UsualDay{
				Signals: []cachev1.UsualSignal{test.signal},
			}}})
			if got := day.Hours[usual.HitRatio][7].Value; got != test.want {
				t.Errorf("usual is %v, want %v", got, test.want)
			}
		})
	}
}

func TestADeviationThatNobodyFoundIsNone(t *testing.T) {
	day := recordedDay(cachev1.MemcachedStatus{Autoscaling: &cachev1.AutoscalingStatus{UsualDay: &cachev1.UsualDay{
		Deviations: []cachev1.Deviation{{Reason: "bad reason!"}, {Reason: cachev1.ReasonLatencyRose, Message: "a"}, {}},
	}}})
	if diff := cmp.Diff([]usual.Deviation{{Reason: cachev1.ReasonLatencyRose, Message: "a"}}, day.Deviations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
