package autoscale

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const gib = int64(1) << 30

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// acting is the input for a cache with 1 GiB, whose memory the operator chooses, and last changed two days ago.
func acting() Input {
	return Input{
		Policy: Policy{Acts: true, Min: gib / 4, Max: 4 * gib, Age: time.Hour, Cooldown: 10 * time.Minute},
		State:  State{Memory: gib, Changed: now.Add(-2 * day)},
		Now:    now, Reports: Reports{Since: now.Add(-day)},
	}
}

// withReport adds a report of a Pod, with a curve on which each hour of age needs this memory.
func (in Input) withReport(pod string, perHour int64, change func(*usage.Report)) Input {
	report := usage.Report{Pod: pod, Observed: int64(day.Seconds()), Memory: in.State.Memory / in.pods(), Reads: 1000, HitRatio: 0.9}
	for minutes := int64(1); minutes <= 12*60; minutes *= 2 {
		point := usage.Point{Age: 60 * minutes, Memory: perHour * minutes / 60, HitRatio: 0.8 + 0.01*float64(len(report.Curve))}
		report.Curve = append(report.Curve, point)
	}
	if change != nil {
		change(&report)
	}
	in.Reports.Seen = append(in.Reports.Seen, Seen{At: now.Add(-time.Minute), Report: report})
	return in
}

func evicting(age time.Duration) func(*usage.Report) {
	return func(r *usage.Report) { r.Evicting, r.EvictedAge = true, int64(age.Seconds()) }
}

func unknownCurve(age time.Duration) func(*usage.Report) {
	return func(r *usage.Report) { r.Evicting, r.EvictedAge, r.Curve = true, int64(age.Seconds()), nil }
}

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		in       Input
		reason   Reason
		memory   int64
		proposed int64
	}{
		"no report: nothing changes": {acting(), Silent, gib, 0},
		"an operator that has just been started finds what was found before": {
			func() Input {
				in := acting()
				in.Reports.Since = now.Add(-fresh + time.Second)
				in.State.Finding = Finding{Reason: TooLarge, Recommended: gib / 2}
				return in
			}(), TooLarge, gib, gib / 2,
		},
		"a report of ten minutes ago does not count": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.Reports.Seen[0].At = now.Add(-fresh)
				return in
			}(), Silent, gib, 0,
		},
		"items are evicted too early: it grows to what the curve says": {
			acting().withReport("a", 3*gib/2, evicting(30*time.Minute)), TooSmall, 3 * gib / 2, 3 * gib / 2,
		},
		"a step at most doubles": {
			acting().withReport("a", 3*gib, evicting(time.Minute)), TooSmall, 2 * gib, 3 * gib,
		},
		"never more than the maximum": {
			func() Input {
				in := acting().withReport("a", 3*gib, evicting(time.Minute))
				in.Policy.Max = 3 * gib / 2
				return in
			}(), TooSmall, 3 * gib / 2, 3 * gib / 2,
		},
		"the Pod that needs most decides": {
			acting().withReport("a", gib, nil).withReport("b", 3*gib/2, evicting(30*time.Minute)),
			TooSmall, 3 * gib / 2, 3 * gib / 2,
		},
		"a Pod that has just been created does not hide what others know": {
			acting().withReport("a", 3*gib/2, evicting(30*time.Minute)).withReport("b", 0, unknownCurve(2*time.Hour)),
			TooSmall, 3 * gib / 2, 3 * gib / 2,
		},
		"the curve is not known yet: it grows by a quarter while items are evicted too early": {
			acting().withReport("a", 0, unknownCurve(time.Minute)), TooSmall, 5 * gib / 4, 0,
		},
		"the curve is not known yet, and nothing young is evicted": {
			acting().withReport("a", 0, unknownCurve(2*time.Hour)), Observing, gib, 0,
		},
		"the curve says that it suffices, but far too young items are evicted": {
			acting().withReport("a", 15*gib/16, evicting(10*time.Minute)), TooSmall, 9 * gib / 8, 15 * gib / 16,
		},
		"memory that is not used is taken away in steps": {
			acting().withReport("a", gib/2, nil), TooLarge, round(gib / 5 * 4), gib / 2,
		},
		"never less than the minimum": {
			func() Input {
				in := acting().withReport("a", gib/8, nil)
				in.Policy.Min = 15 * gib / 16
				in.State.Memory = gib
				return in
			}(), Fits, gib, 15 * gib / 16,
		},
		"nothing is taken away before a day is observed": {
			acting().withReport("a", gib/2, func(r *usage.Report) { r.Observed -= 60 }), TooLarge, gib, gib / 2,
		},
		"nothing is taken away while items are evicted too early, whatever the curve says": {
			acting().withReport("a", gib/2, evicting(45*time.Minute)), TooLarge, gib, gib / 2,
		},
		"a thirtieth more is no step": {
			acting().withReport("a", gib+gib/33, evicting(50*time.Minute)), Fits, gib, gib + gib/32,
		},
		"nothing is taken away soon after a change": {
			func() Input {
				in := acting().withReport("a", gib/2, nil)
				in.State.Changed = now.Add(-30 * time.Minute)
				return in
			}(), TooLarge, gib, gib / 2,
		},
		"nothing is added within the cooldown": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.State.Changed = now.Add(-9 * time.Minute)
				return in
			}(), TooSmall, gib, 2 * gib,
		},
		"a clock that was set back delays nothing": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.State.Changed = now.Add(2 * time.Hour)
				return in
			}(), TooSmall, 2 * gib, 2 * gib,
		},
		"no step while the cache is busy": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.Busy = true
				return in
			}(), TooSmall, gib, 2 * gib,
		},
		"bounds hold also without a report": {
			func() Input {
				in := acting()
				in.Policy.Max = gib / 2
				return in
			}(), Silent, gib / 2, 0,
		},
		"a step that a Pod did not get is taken back, also while the cache is busy": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.State.Memory, in.State.Changed, in.Busy = 2*gib, now.Add(-3*time.Minute), true
				in.State.Former, in.Refused = gib, true
				return in
			}(), Fits, gib, 2 * gib,
		},
		"what was refused is not tried again within an hour": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.State.Refused, in.State.Changed = 2*gib, now.Add(-59*time.Minute)
				return in
			}(), TooSmall, gib, 2 * gib,
		},
		"what was refused is tried again after an hour": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.State.Refused, in.State.Changed = 2*gib, now.Add(-time.Hour)
				return in
			}(), TooSmall, 2 * gib, 2 * gib,
		},
		"after a rollout, twice what was recommended is enough until more is known": {
			func() Input {
				in := acting().withReport("a", gib, unknownCurve(time.Minute))
				in.State.Finding.Recommended = gib / 2
				return in
			}(), TooSmall, gib, gib / 2,
		},
		"after a rollout, items that are a little young are those that were used once": {
			func() Input {
				in := acting().withReport("a", gib, unknownCurve(40*time.Minute))
				in.State.Finding.Recommended = gib
				return in
			}(), Observing, gib, gib,
		},
		"memcached skips requests since there are more: the last recommendation is no limit": {
			func() Input {
				in := acting().withReport("a", gib, func(r *usage.Report) { evicting(time.Minute)(r); r.Skipped = 0.3 })
				in.State.Finding.Recommended = gib / 2
				return in
			}(), TooSmall, gib / 4 * 5, gib / 2,
		},
		"the need of a Pod is unknown: nothing is taken away": {
			acting().withReport("a", gib/2, nil).withReport("b", gib, func(r *usage.Report) { r.Skipped = 0.3 }), TooLarge, gib, gib / 2,
		},
		"nothing is evicted, and a little more than there is would be needed": {
			acting().withReport("a", gib+gib/12, nil), Fits, gib, gib,
		},
		"nothing is evicted now, and twice as much was needed by day": {
			acting().withReport("a", 2*gib, nil), TooSmall, gib, 2 * gib,
		},
		"a clock that is a little ahead does not shorten the cooldown": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.State.Changed = now.Add(5 * time.Second)
				in.State.Finding = Finding{Reason: Fits}
				return in
			}(), Fits, gib, 0,
		},
		"a report of before the last step says nothing about it": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.Policy.Cooldown = time.Minute
				in.State.Changed, in.State.Finding = now.Add(-time.Minute), Finding{Reason: TooSmall}
				return in
			}(), TooSmall, gib, 0,
		},
		"what was evicted before the last step does not count": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.Policy.Cooldown = time.Minute
				in.State.Changed = now.Add(-window)
				return in
			}(), TooSmall, gib, 2 * gib,
		},
		"nothing is taken away before all Pods that are read have reported": {
			func() Input {
				in := acting().withReport("a", gib/2, nil)
				in.Reports.Sampled = 2
				return in
			}(), TooLarge, gib, gib / 2,
		},
		"what far too young items make it grow to is bounded": {
			acting().withReport("a", gib/2, evicting(time.Minute)), TooSmall, gib, gib / 2,
		},
		"more would be needed than the maximum, which the Pods have": {
			func() Input {
				in := acting().withReport("a", 3*gib, evicting(time.Minute))
				in.Policy.Max = gib
				return in
			}(), TooSmall, gib, gib,
		},
		"it observes Pods with more than the maximum, who need it": {
			func() Input {
				in := acting().withReport("a", gib, evicting(50*time.Minute))
				in.Policy.Acts, in.Policy.Max = false, gib/2
				return in
			}(), Fits, gib, gib / 2,
		},
		"it observes Pods with less than the minimum, which is enough": {
			func() Input {
				in := acting().withReport("a", gib/2, nil)
				in.Policy.Acts, in.Policy.Min = false, 2*gib
				return in
			}(), Fits, gib, 2 * gib,
		},
		"memcached skips too much of its log: the curve does not count": {
			acting().withReport("a", gib/2, func(r *usage.Report) { r.Skipped = 0.2 }), Observing, gib, 0,
		},
		"it only observes": {
			func() Input {
				in := acting().withReport("a", 2*gib, evicting(time.Minute))
				in.Policy.Acts = false
				return in
			}(), TooSmall, gib, 2 * gib,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			decided := Decide(test.in)
			if decided.Memory != test.memory || decided.Finding.Reason != test.reason ||
				decided.Finding.Recommended != test.proposed {
				t.Errorf("%d MiB, %s, recommends %d MiB: %s\nwant %d MiB, %s, %d MiB", decided.Memory/mebibyte,
					decided.Finding.Reason, decided.Finding.Recommended/mebibyte, decided.Finding.Message,
					test.memory/mebibyte, test.reason, test.proposed/mebibyte)
			}
			if changed := decided.Memory != test.in.State.Memory; changed != decided.Changed.Equal(now) {
				t.Errorf("changed at %s", decided.Changed)
			}
		})
	}
}
