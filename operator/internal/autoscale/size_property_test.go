package autoscale

// Properties of the decisions if the number of Pods changes, in simulated days.

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// shard is a cache whose number of Pods the operator chooses. Each Pod gets its share of the load.
type shard struct {
	*cache

	sizes []int64 // the numbers of Pods so far, one for each step
}

func randomShard(random *rand.Rand) *shard {
	c := randomCache(random)
	policy := &c.in.Policy
	policy.Age = time.Duration(60+random.IntN(32000)) * time.Second // the curves of these tests reach it
	policy.Pod = int64(16+random.IntN(8000)) * mebibyte
	policy.Min = policy.Pod * int64(1+random.IntN(5))
	policy.Max = policy.Min * int64(1+random.IntN(50))
	c.in.State.Memory = policy.Within(policy.Pod * int64(1+random.IntN(100)))
	return &shard{cache: c}
}

// report returns the report of an agent that has observed all of these numbers of Pods. The report does not count
// evicted items that the last step copied, and that clients have not used since.
func (s *shard) report(l load, step time.Duration) usage.Report {
	seen := min(len(s.sizes), int((day+s.in.Policy.Age)/step)+1)
	fewest := s.in.pods()
	for _, size := range s.sizes[len(s.sizes)-seen:] {
		fewest = min(fewest, size)
	}
	share := load{all: l.all / float64(fewest), half: l.half, haste: l.haste}
	report := share.report(s.in.Policy.Pod, s.observed)
	report.Evicting, report.EvictedAge = l.evicts(s.in.State.Memory, s.observed)
	if report.Evicting && report.EvictedAge >= int64(s.in.sinceChange().Seconds()) {
		report.Evicting, report.EvictedAge, report.EvictingCopied = false, 0, true
	}
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

// days is how long a constant load is simulated, in steps of 20 minutes. found is how often, in that time, a memory is
// found to be too little again.
const (
	days  = 60
	found = days / int(remembered/day)
)

// turns simulates a constant load, and returns how often the cache grew after it had shrunk, or the reverse, and how
// often it changed in the last four days.
func (s *shard) turns(t *testing.T, l load) (turns, late int) {
	t.Helper()
	last := int64(0)
	for i := range days * 24 * 3 {
		before, after := s.decide(t, 20*time.Minute, l)
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
	return turns, late
}

// TestALoadThatFitsByTheCurveAloneDoesNotLoseAPodAgainAndAgain has all items in four Pods. In three Pods, they would
// stay for the wanted age according to the curve, but are evicted at half of that age. The operator remembers for four
// weeks that three Pods are not enough. Each time it has forgotten this, it finds it again: twice in the simulated
// time.
func TestALoadThatFitsByTheCurveAloneDoesNotLoseAPodAgainAndAgain(t *testing.T) {
	for pods := int64(1); pods <= 8; pods++ {
		random := rand.New(rand.NewPCG(13, uint64(pods))) //nolint:gosec // A test.
		s := randomShard(random)
		s.in.Policy.Age, s.in.Policy.Pod, s.in.Policy.Min, s.in.Policy.Max = time.Hour, gib, gib, 20*gib
		s.in.State.Memory = 4 * gib
		fits, all := 0.99*float64(pods*gib), 1.05*float64(pods*gib)
		l := load{all: all, half: -time.Hour.Seconds() / math.Log2(1-fits/all), haste: 0.4}
		if turns, _ := s.turns(t, l); turns > 2+2*found || s.in.pods() != pods+1 {
			t.Errorf("with %d Pods: it turned %d times, and has %d", pods, turns, s.in.pods())
		}
	}
}

func TestUnderAConstantLoadTheNumberOfPodsComesToRest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // A test.
	for range 100 {
		s, l := randomShard(random), randomLoad(random)
		l.haste = 0.25 + random.Float64()*0.75
		turns, late := s.turns(t, l)
		if turns > 2+2*found { // up at first, down after a day of observation, and up again
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
		s.getsNoLess(t, l, 1+random.Float64(), func(l load) usage.Report { return s.report(l, time.Minute) })
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
