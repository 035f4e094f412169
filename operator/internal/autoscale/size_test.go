package autoscale

// Tests the same decisions for a cache whose number of Pods changes, and not the memory of each Pod.

import (
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// pods is a cache of four Pods with 1 GiB each. The operator chooses their number, and last changed it this long ago.
func pods(ago time.Duration) Input {
	in := acting()
	in.Policy.Pod, in.Policy.Min, in.Policy.Max = gib, 2*gib, 9*gib
	in.State.Memory, in.State.Changed = 4*gib, now.Add(-ago)
	in.State.Finding.Recommended = 4 * gib
	return in
}

func TestDecideHowManyPods(t *testing.T) {
	const long = 2 * day
	busy := func(in Input) Input {
		in.Busy = true
		return in
	}
	found := func(in Input, pods int64) Input {
		in.State.Finding.Recommended = pods * gib
		return in
	}
	bounded := func(in Input, least, most int64) Input {
		in.Policy.Min, in.Policy.Max = least*gib, most*gib
		return in
	}
	tooLittle := func(in Input, pods int64, needed float64) Input {
		in.State.TooLittle = TooLittle{Memory: pods * gib, Needed: int64(needed * float64(gib)), Since: now.Add(-day)}
		return in
	}
	longAgo := func(in Input) Input {
		in.State.TooLittle.Since = now.Add(-remembered)
		return in
	}
	former := func(in Input, pods int64) Input {
		in.State.Former = pods * gib
		return in
	}
	tests := map[string]struct {
		in                Input
		reason            Reason
		pods, recommended int64
	}{
		"three were too few for as much as now": {
			found(tooLittle(pods(long), 3, 2.9).withReport("a", gib/10*7, nil), 3), Fits, 4, 3,
		},
		"three were too few for a little more": {
			found(tooLittle(pods(long), 3, 2.9).withReport("a", gib/10*6, nil), 3), Fits, 4, 3,
		},
		"three were too few for far more": {
			found(tooLittle(pods(long), 3, 4).withReport("a", gib/10*7, nil), 3), TooLarge, 3, 3,
		},
		"two were too few: three may do": {
			found(tooLittle(pods(long), 2, 2.2).withReport("a", gib/2, nil), 2), TooLarge, 3, 2,
		},
		"three were too few, and it is not known for what": {
			found(tooLittle(pods(long), 3, 0).withReport("a", gib/10*7, nil), 3), Fits, 4, 3,
		},
		"a little less than five are needed: five stay recommended": {
			found(pods(long), 5).withReport("a", gib, nil), TooSmall, 4, 5,
		},
		"far less than five are needed": {
			found(pods(long), 5).withReport("a", gib/10*8, nil), Fits, 4, 4,
		},
		"items were evicted with another memory of each Pod": {
			pods(long).withReport("a", gib/5*6, func(r *usage.Report) {
				r.Memory, r.Evicting, r.EvictedAge = gib/2, true, 60
			}), TooSmall, 4, 5,
		},
		"it is unknown what is evicted with another memory of each Pod: no Pod leaves": {
			found(pods(long), 2).withReport("a", gib/2, func(r *usage.Report) { r.Memory = gib / 2 }), TooLarge, 4, 2,
		},
		"no report: nothing changes": {pods(long), Silent, 4, 4},
		"each needs a fifth more: that is one Pod": {
			pods(long).withReport("a", gib/5*6, evicting(30*time.Minute)), TooSmall, 5, 5,
		},
		"it needs just more than it has: that is one Pod": {
			pods(long).withReport("a", gib/100*102, evicting(50*time.Minute)), TooSmall, 5, 5,
		},
		"it at most doubles": {pods(long).withReport("a", 3*gib, evicting(time.Minute)), TooSmall, 8, 9},
		"it is bounded":      {bounded(pods(long).withReport("a", 3*gib, evicting(time.Minute)), 1, 6), TooSmall, 6, 6},
		"two would do: one Pod leaves": {
			found(pods(long).withReport("a", gib/2, nil), 2), TooLarge, 3, 2,
		},
		"two would do, as of the last report only": {pods(long).withReport("a", gib/2, nil), TooLarge, 4, 2},
		"the least number stays":                   {bounded(pods(long).withReport("a", gib/9, nil), 4, 9), Fits, 4, 4},
		"a bound holds while the cache is not ready": {
			bounded(busy(pods(time.Minute)), 5, 9), Silent, 5, 5,
		},
		"it is not ready": {busy(pods(long).withReport("a", 3*gib, evicting(time.Minute))), TooSmall, 4, 9},
		"there is no curve yet: it waits for one": {
			pods(long).withReport("a", gib, unknownCurve(time.Minute)), TooSmall, 4, 4,
		},
		"the curve is also of another number: it says nothing": {
			pods(day).withReport("a", 3*gib, evicting(40*time.Minute)), Observing, 4, 4,
		},
		"after another number was chosen, items are evicted far too early": {
			pods(time.Hour).withReport("a", gib, evicting(29*time.Minute)), TooSmall, 5, 4,
		},
		"a Pod evicts what was copied to it, and nothing that was used since": {
			pods(time.Hour).withReport("a", gib, func(r *usage.Report) { r.EvictingCopied = true }), Observing, 4, 4,
		},
		"it was eight Pods before: as many may return": {
			former(found(pods(time.Hour), 2), 8).withReport("a", gib, evicting(time.Minute)), TooSmall, 5, 2,
		},
		"it has far more than twice what is recommended": {
			found(pods(time.Hour), 2).withReport("a", gib, evicting(time.Minute)), TooSmall, 4, 2,
		},
		"three were too few, four weeks ago": {
			longAgo(found(tooLittle(pods(long), 3, 2.9).withReport("a", gib/10*7, nil), 3)), TooLarge, 3, 3,
		},
		"what other clients wrote about what was needed says nothing": {
			found(tooLittle(pods(long), 2, -1).withReport("a", gib/2, nil), 2), TooLarge, 3, 2,
		},
		"three smaller Pods were too few: two may do": {
			found(tooLittle(pods(long), 1, 0.9).withReport("a", gib/10*3, nil), 2), TooLarge, 3, 2,
		},
		"what was recommended is within other bounds now": {
			bounded(found(pods(time.Hour), 9), 2, 6).withReport("a", gib, nil), Observing, 4, 6,
		},
		"the curve no longer is: a whole day, and the age, are over": {
			pods(unmixed(time.Hour)).withReport("a", 3*gib, evicting(time.Minute)), TooSmall, 8, 9,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			decided := Decide(tc.in)
			if decided.Memory != tc.pods*gib || decided.Finding.Reason != tc.reason ||
				decided.Finding.Recommended != tc.recommended*gib {
				t.Errorf("%d Pods, %+v", decided.Memory/gib, decided.Finding)
			}
		})
	}
}

func TestAsManyPodsAsBeforeMayReturn(t *testing.T) {
	in := pods(time.Hour).withReport("a", gib, evicting(time.Minute))
	in.State.Finding.Recommended, in.State.Former = 2*gib, 8*gib
	for range 10 {
		in.State = Decide(in)
		in.State.Changed = now.Add(-time.Hour)
	}
	if in.State.Memory != 8*gib || in.State.Former != 0 {
		t.Errorf("%d Pods return, and %d are remembered", in.State.Memory/gib, in.State.Former/gib)
	}
}

func TestWhileTheNumberOfPodsChangesTheTimeOfTheChangeFollows(t *testing.T) {
	for ago, follows := range map[time.Duration]bool{noted: true, noted - time.Second: false, 2 * day: true} {
		in := pods(ago)
		in.Busy, in.Changing = true, true
		if decided := Decide(in); decided.Changed.Equal(now) != follows {
			t.Errorf("%s ago: changed at %s", ago, decided.Changed)
		}
	}
}

func TestTheWordsAreAboutPods(t *testing.T) {
	in := pods(2*day).withReport("a", gib/5*6, evicting(30*time.Minute))
	const want = "Items that are not used would stay for 1h0m0s with 5 Pods, but stay for a shorter time with 4 Pods"
	if found := Decide(in).Finding; found.Message != want {
		t.Error(found.Message)
	}
	in.Policy.Max, in.State.Memory = gib, 4*gib
	if why := Decide(in).Why; why != "spec.autoscaling.size has other bounds" {
		t.Error(why)
	}
}

func TestWhatWasTooLittleIsRemembered(t *testing.T) {
	grows := pods(2*day).withReport("a", gib/5*6, evicting(30*time.Minute))
	needed := grows.signals().needed
	mixed := pods(time.Hour).withReport("a", gib, evicting(29*time.Minute))
	again := mixed
	again.State.TooLittle = TooLittle{Memory: 3 * gib, Needed: 3 * gib, Since: now.Add(-day)}
	learns := pods(2*day).withReport("a", gib, nil)
	learns.State.TooLittle = TooLittle{Memory: 3 * gib, Since: now.Add(-day)}
	bounds := pods(2*day).withReport("a", gib, nil)
	bounds.Policy.Min = 6 * gib
	shrank := again
	shrank.State.Memory = 3 * gib
	for name, tc := range map[string]struct {
		in   Input
		want TooLittle
	}{
		"it grows by the curve":                    {grows, TooLittle{4 * gib, needed, now}},
		"it grows without one":                     {mixed, TooLittle{4 * gib, 0, now}},
		"it grows without one once more":           {again, TooLittle{4 * gib, 3 * gib, now}},
		"the curve is known again":                 {learns, TooLittle{3 * gib, learns.signals().needed, now.Add(-day)}},
		"it grows as the spec says so":             {bounds, TooLittle{}},
		"it got as few by other bounds, and grows": {shrank, TooLittle{3 * gib, 0, now}},
	} {
		if got := Decide(tc.in).TooLittle; got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
