package autoscale

// The same decisions, where the number of Pods changes, and not the memory of each.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// pods is a cache of four Pods with 1 GiB each whose number is chosen, and was last changed so long ago.
func pods(ago time.Duration) Input {
	in := acting()
	in.Policy.Pod, in.Policy.Min, in.Policy.Max, in.Given = gib, 2*gib, 9*gib, 0
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
	tests := map[string]struct {
		in                Input
		reason            Reason
		pods, recommended int64
	}{
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
			bounded(busy(pods(time.Minute)), 5, 9), Silent, 5, 4,
		},
		"it is not ready": {busy(pods(long).withReport("a", 3*gib, evicting(time.Minute))), TooSmall, 4, 9},
		"there is no curve yet: it waits for one": {
			pods(long).withReport("a", gib, unknownCurve(time.Minute)), TooSmall, 4, 0,
		},
		"the curve is also of another number: it says nothing": {
			pods(day).withReport("a", 3*gib, evicting(40*time.Minute)), Observing, 4, 4,
		},
		"after another number was chosen, items are evicted far too early": {
			pods(time.Hour).withReport("a", gib, evicting(29*time.Minute)), TooSmall, 5, 4,
		},
		"they may have been copied when they seem to have been used": {
			pods(20*time.Minute).withReport("a", gib, evicting(time.Minute)), Observing, 4, 4,
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
	const want = "Items that are not used stay for 1h0m0s with 5 Pods, and for less with 4 Pods"
	if found := Decide(in).Finding; found.Message != want {
		t.Error(found.Message)
	}
	in.Policy.Max, in.State.Memory = gib, 4*gib
	if why := Decide(in).Why; why != "spec.autoscaling.size has other bounds" {
		t.Error(why)
	}
}

// shard is a cache whose number of Pods is chosen. Each Pod gets its share of the load.
type shard struct {
	*cache

	sizes []int64 // of the past, a value for each step
}

func randomShard(random *rand.Rand) *shard {
	c := randomCache(random)
	policy := &c.in.Policy
	policy.Age = time.Duration(60+random.IntN(32000)) * time.Second // for which there is a point in the curves here
	policy.Pod = int64(16+random.IntN(8000)) * mebibyte
	policy.Min = policy.Pod * int64(1+random.IntN(5))
	policy.Max = policy.Min * int64(1+random.IntN(50))
	c.in.State.Memory, c.in.Given = policy.Within(policy.Pod*int64(1+random.IntN(100))), 0
	return &shard{cache: c}
}

// report is what an agent says that saw all of these numbers of Pods. Items count as used when they were copied.
func (s *shard) report(l load, step time.Duration) usage.Report {
	seen := min(len(s.sizes), int((day+s.in.Policy.Age)/step)+1)
	fewest := s.in.pods()
	for _, size := range s.sizes[len(s.sizes)-seen:] {
		fewest = min(fewest, size)
	}
	share := load{all: l.all / float64(fewest), half: l.half, haste: l.haste}
	report := share.report(s.in.Policy.Pod, s.observed)
	report.Evicting, report.EvictedAge = l.evicts(s.in.State.Memory, s.observed)
	report.EvictedAge = min(report.EvictedAge, int64(s.in.sinceChange().Seconds()))
	return report
}

// decide simulates some minutes, and returns the number of Pods before and after.
func (s *shard) decide(t *testing.T, step time.Duration, l load) (before, after int64) {
	t.Helper()
	s.in.Now, s.observed = s.in.Now.Add(step), s.observed+step
	before = s.in.pods()
	s.sizes = append(s.sizes, before)
	s.in.Reports.Seen = []Seen{{At: s.in.Now, Report: s.report(l, step)}}
	decided := Decide(s.in)
	after = decided.Memory / s.in.Policy.Pod
	if before != after {
		s.check(t, before, after)
	}
	s.in.State = decided
	return before, after
}

func (s *shard) check(t *testing.T, before, after int64) {
	t.Helper()
	policy, since := s.in.Policy, s.in.sinceChange()
	switch {
	case after*policy.Pod < policy.Min || after*policy.Pod > policy.Max:
		t.Errorf("%d Pods are not within the bounds", after)
	case since < policy.Cooldown:
		t.Errorf("a step after %s, with a cooldown of %s", since, policy.Cooldown)
	case after < before && (since < unhurried*policy.Cooldown || since < day || s.observed < day):
		t.Errorf("fewer Pods after %s, and %s of observation", since, s.observed)
	case after > 2*before, after < before-1 && after*5 < before*4:
		t.Errorf("a step from %d to %d", before, after)
	}
}

func TestUnderAConstantLoadTheNumberOfPodsComesToRest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // A test.
	const step, days = 20 * time.Minute, 60
	for range 60 {
		s, l := randomShard(random), randomLoad(random)
		turns, last, late := 0, int64(0), 0
		for i := range days * 24 * 3 {
			before, after := s.decide(t, step, l)
			if before == after {
				continue
			}
			if last != 0 && (after > before) != (last > 0) {
				turns++
			}
			if last = after - before; i > (days-4)*24*3 {
				late++
			}
		}
		if turns > 1 {
			t.Errorf("it turned %d times: %+v, %+v", turns, l, s.in.Policy)
		}
		policy := s.in.Policy
		wanted := policy.Within(policy.round(int64(l.used(policy.Age.Seconds()))))
		has := s.in.State.Memory
		if late == 0 && (has < wanted/100*96 && float64(has) < l.all || has > wanted/4*5+policy.Pod && l.haste > 0.99) {
			t.Errorf("it rests at %d Pods, and %d are needed: %+v, %+v", s.in.pods(), wanted/policy.Pod, l, policy)
		}
	}
}

func TestAMoreDemandingLoadNeverGetsFewerPods(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10)) //nolint:gosec // A test.
	for range 5000 {
		s, l := randomShard(random), randomLoad(random)
		s.observed = time.Duration(random.Int64N(int64(2 * day)))
		s.in.State.Changed = now.Add(-time.Duration(random.Int64N(int64(3 * day))))
		s.in.State.Finding.Recommended = s.in.Policy.Within(s.in.Policy.Pod * int64(random.IntN(100)))
		more := l
		more.all *= 1 + random.Float64()
		decided := func(l load) int64 {
			in := s.in
			in.Reports.Seen = []Seen{{At: in.Now, Report: s.report(l, time.Minute)}}
			return Decide(in).Memory
		}
		if less, more := decided(l), decided(more); more < less {
			t.Errorf("%d, and %d with a larger load: %+v, %s, %+v", less, more, l, s.observed, s.in)
		}
	}
}

func TestWithoutReportsNoPodIsAddedOrRemoved(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12)) //nolint:gosec // A test.
	for range 1000 {
		s := randomShard(random)
		if random.IntN(2) == 0 {
			late := s.report(randomLoad(random), time.Minute)
			s.in.Reports.Seen = []Seen{{At: now.Add(-fresh - time.Duration(random.Int64N(int64(day)))), Report: late}}
		}
		if decided := Decide(s.in); decided.Memory != s.in.State.Memory {
			t.Errorf("%d becomes %d", s.in.State.Memory, decided.Memory)
		}
	}
}
