package usual

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// noon is on a day of which all hours are known.
var noon = monday.Add(30*24*time.Hour + 12*time.Hour)

// known is a day on which each hour is the same.
func known() Day {
	day := New(monday)
	day.Learned = noon
	usually := Values{HitRatio: 90, EvictionAge: 7200, Connections: 100, Latency: 100}
	for signal, value := range usually {
		for hour := range day.Hours[signal] {
			day.Hours[signal][hour] = Hour{value, least[signal], 30}
		}
	}
	return day
}

// reported are reports of the last minutes, a minute apart.
func reported(minutes int, values Values) []Moment {
	var moments []Moment
	for minute := range minutes {
		moments = append(moments, Moment{noon.Add(time.Duration(minute-minutes+1) * time.Minute), "a", values})
	}
	return moments
}

// ofPods are the reports of Pods that are read in turn.
func ofPods(minutes int, pods ...Values) []Moment {
	moments := reported(minutes, Values{})
	for i := range moments {
		moments[i].Pod, moments[i].Values = strconv.Itoa(i%len(pods)), pods[i%len(pods)]
	}
	return moments
}

// asBefore stands for an empty state, with which the condition stays as it is.
const asBefore = "as before"

func reasons(deviations []Deviation) (reasons []string) {
	for _, deviation := range deviations {
		reasons = append(reasons, deviation.Reason)
	}
	return reasons
}

func TestADecision(t *testing.T) {
	usually := Values{HitRatio: 90, EvictionAge: 7200, Connections: 100, Latency: 100}
	with := func(signal int, value float64) Values {
		values := usually
		values[signal] = value
		return values
	}
	fell := Deviation{cachev1.ReasonHitRatioFell, "as it began"}
	tests := map[string]struct {
		moments []Moment
		before  []Deviation
		change  func(*Input)
		state   string
		want    []string
	}{
		"as usual": {moments: reported(60, usually)},
		"the backend has twice the misses": {
			moments: reported(30, with(HitRatio, 80)), want: []string{cachev1.ReasonHitRatioFell},
		},
		"not for half an hour":               {moments: reported(15, with(HitRatio, 50))},
		"a few more misses":                  {moments: reported(30, with(HitRatio, 84))},
		"more hits than usual harm nobody":   {moments: reported(30, with(HitRatio, 100))},
		"items stay for less, and too short": {moments: reported(30, with(EvictionAge, 1800)), want: []string{cachev1.ReasonEvictedSooner}},
		"items stay for less, but long enough": {
			moments: reported(30, with(EvictionAge, 3600)),
		},
		"no items are evicted":        {moments: reported(30, with(EvictionAge, none))},
		"connections that leak":       {moments: reported(30, with(Connections, 200)), want: []string{cachev1.ReasonConnectionsRose}},
		"clients that have ended":     {moments: reported(30, with(Connections, 2)), want: []string{cachev1.ReasonConnectionsFell}},
		"a slow processor":            {moments: reported(30, with(Latency, 2500)), want: []string{cachev1.ReasonLatencyRose}},
		"slower, but still fast":      {moments: reported(30, with(Latency, 1500))},
		"several, in their order":     {moments: reported(30, Values{10, 60, 1000, 9000}), want: []string{cachev1.ReasonHitRatioFell, cachev1.ReasonEvictedSooner, cachev1.ReasonConnectionsRose, cachev1.ReasonLatencyRose}},
		"what began stays for longer": {moments: reported(30, with(HitRatio, 86)), before: []Deviation{fell}, want: []string{fell.Reason}},
		"and ends when it is usual":   {moments: reported(30, with(HitRatio, 89)), before: []Deviation{fell}},
		"an operator that just started keeps it": {
			moments: reported(3, usually), before: []Deviation{fell}, want: []string{fell.Reason},
			change: func(in *Input) { in.Since = noon.Add(-3 * time.Minute) }, state: asBefore,
		},
		"nobody reports, so that nothing is known": {before: []Deviation{fell}, state: cachev1.ReasonNotReported},
		"the cache is suspended, or has no Pods": {
			moments: reported(30, with(HitRatio, 10)), before: []Deviation{fell}, state: cachev1.ReasonNotReported,
			change: func(in *Input) { in.Idle = true },
		},
		"Pods are not read yet": {
			before: []Deviation{fell}, want: []string{fell.Reason}, state: asBefore,
			change: func(in *Input) { in.Since = time.Time{} },
		},
		"clients do nothing for a while, which does not end it": {
			moments: reported(30, with(HitRatio, Unknown)), before: []Deviation{fell}, want: []string{fell.Reason},
		},
		"it was usual for a quarter of an hour only": {
			moments: append(reported(30, with(HitRatio, 50))[:15], reported(15, usually)...), before: []Deviation{fell},
			want: []string{fell.Reason},
		},
		"half of the Pods deviate, always": {
			moments: ofPods(60, usually, with(Connections, 1000)), want: []string{cachev1.ReasonConnectionsRose},
		},
		"one of five Pods deviates": {
			moments: ofPods(60, usually, usually, usually, usually, with(Connections, 1000)),
		},
		"items stay for about as long as they are to, which does not end it": {
			moments: reported(30, with(EvictionAge, 3700)), before: []Deviation{{cachev1.ReasonEvictedSooner, "as it began"}},
			change: func(in *Input) {
				for hour := range in.Day.Hours[EvictionAge] {
					in.Day.Hours[EvictionAge][hour].Value = none
				}
			},
			want: []string{cachev1.ReasonEvictedSooner},
		},
		"it is usual an hour later, as when the clocks change": {
			moments: reported(30, with(Connections, 300)),
			change: func(in *Input) {
				in.Day.Hours[Connections][12].Value, in.Day.Hours[Connections][13].Value = 300, 300
			},
		},
		"a signal that is known since a few days": {
			moments: reported(30, with(Latency, 9000)),
			change: func(in *Input) {
				for hour := range in.Day.Hours[Latency] {
					in.Day.Hours[Latency][hour].Days = 6
				}
			},
		},
		"the first days are quiet": {
			moments: reported(30, with(HitRatio, 10)), before: []Deviation{fell}, state: cachev1.ReasonLearning,
			change: func(in *Input) { in.QuietDays = 31 },
		},
		"a signal that nobody reports": {moments: reported(30, with(HitRatio, Unknown))},
		"hours that are unknown": {
			moments: reported(30, with(HitRatio, 10)),
			change: func(in *Input) {
				in.Day.Hours[HitRatio][11].Value, in.Day.Hours[HitRatio][12].Value = Unknown, Unknown
			},
		},
		"a day that begins in the future is learned from now on": {
			moments: reported(30, with(HitRatio, 10)), state: cachev1.ReasonLearning,
			change: func(in *Input) { in.Day.Since = noon.Add(48 * time.Hour) },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Day: known(), Moments: test.moments, Since: monday, QuietDays: week, Age: time.Hour, Now: noon}
			in.Day.Deviations = test.before
			if test.change != nil {
				test.change(&in)
			}
			got := Decide(in)
			if diff := cmp.Diff(test.want, reasons(got.Deviations)); diff != "" {
				t.Errorf("deviations (-want +got):\n%s", diff)
			}
			switch test.state {
			case "":
				test.state = cachev1.ReasonAsUsual
			case asBefore:
				test.state = ""
			}
			if got.State != test.state {
				t.Errorf("state %s, want %s", got.State, test.state)
			}
		})
	}
}

func TestADeviationSaysWhatIsUsual(t *testing.T) {
	got := Decide(Input{
		Day: known(), Moments: reported(30, Values{10, 60, 1000, 9000}), QuietDays: 1, Age: time.Hour, Now: noon,
	})
	want := []Deviation{
		{cachev1.ReasonHitRatioFell, "10 % of the reads find their item, usually 90 %"},
		{cachev1.ReasonEvictedSooner, "items are evicted after 1m0s without use, usually after 2h0m0s"},
		{cachev1.ReasonConnectionsRose, "a Pod has 1000 connections, usually 100"},
		{cachev1.ReasonLatencyRose, "memcached answers in 9.0 ms, usually in 0.1 ms"},
	}
	if diff := cmp.Diff(want, got.Deviations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnHourIsLearnedOnce(t *testing.T) {
	day := New(noon.Add(-2 * time.Hour))
	in := Input{Day: day, Moments: reported(61, Values{90, none, 100, 50}), QuietDays: 1, Now: noon}
	learned := Decide(in)
	if want := (Hour{Value: 90, Days: 1}); learned.Hours[HitRatio][11] != want || !learned.Learned.Equal(noon) {
		t.Fatalf("learned %v until %s", learned.Hours[HitRatio][11], learned.Learned)
	}
	if learned.Hours[HitRatio][12].Value >= 0 || learned.Hours[HitRatio][10].Value >= 0 {
		t.Errorf("hours are known that nobody reported: %v", learned.Hours[HitRatio])
	}
	in.Day, in.Now = learned, noon.Add(time.Minute)
	if diff := cmp.Diff(learned, Decide(in)); diff != "" {
		t.Errorf("the hour is learned again (-before +after):\n%s", diff)
	}
}

// TestAnIncidentHardlyChangesWhatIsUsual has an incident after the first week of learning.
func TestAnIncidentHardlyChangesWhatIsUsual(t *testing.T) {
	in := Input{Day: known(), Moments: reported(61, Values{5, none, 100, 50}), QuietDays: 1, Age: time.Hour, Now: noon}
	in.Day.Learned = time.Time{}
	hour := Decide(in).Hours[HitRatio][11]
	if hour.Value < 89 || hour.Value == 90 || hour.Spread > 1 {
		t.Errorf("usual is now %v", hour)
	}
}

func TestAReportIsAMoment(t *testing.T) {
	tests := map[string]struct {
		report usage.Report
		want   Values
	}{
		"all": {
			usage.Report{RecentReads: 300, RecentHitRatio: 0.5, Evicting: true, EvictedAge: 60, Connections: 7, Latency: 40},
			Values{50, 60, 7, 40},
		},
		"too few reads":              {usage.Report{RecentReads: 299, RecentHitRatio: 0.5, Connections: 7, Latency: 40}, Values{Unknown, none, 7, 40}},
		"an older agent":             {usage.Report{Reads: 5000, HitRatio: 0.5}, Values{Unknown, none, Unknown, Unknown}},
		"evicted after many days":    {usage.Report{Evicting: true, EvictedAge: 1e6, Connections: 1, Latency: 1}, Values{Unknown, none, 1, 1}},
		"evicted, but copied before": {usage.Report{EvictingCopied: true, Connections: 1, Latency: 1}, Values{Unknown, Unknown, 1, 1}},
		"evicted in the same second": {usage.Report{Evicting: true, Connections: 1, Latency: 1}, Values{Unknown, 0, 1, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.report.Pod = "a"
			if diff := cmp.Diff(Moment{noon, "a", test.want}, MomentOf(noon, test.report)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
