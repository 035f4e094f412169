package autoscale

// Properties of the decisions, in simulated days.

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// load is the data that clients use: all is its size in bytes, and half is the time in which clients use one half of
// it.
type load struct {
	all, half float64

	// haste is the factor, 0.5 to 1, by which memcached evicts items that were used only once earlier than the curve
	// predicts.
	haste float64
}

// used returns the bytes that are used within an age, and ageOf the reverse.
func (l load) used(age float64) float64     { return l.all * (1 - math.Exp2(-age/l.half)) }
func (l load) ageOf(memory float64) float64 { return -l.half * math.Log2(1-memory/l.all) }

func randomLoad(random *rand.Rand) load {
	return load{
		all:   math.Exp2(26 + 10*random.Float64()), // 64 MiB to 64 GiB
		half:  math.Exp2(5 + 13*random.Float64()),  // half a minute to three days
		haste: 0.5 + random.Float64()/2,
	}
}

// report returns the report of an agent that has observed for this time.
func (l load) report(memory int64, observed time.Duration) usage.Report {
	seconds := int64(min(observed, day).Seconds())
	r := usage.Report{Pod: "a", Observed: seconds, Memory: memory, Reads: 1000, HitRatio: 0.9}
	for age := 1.; int64(age) <= seconds/2; age *= math.Sqrt2 {
		r.Curve = append(r.Curve, usage.Point{Age: int64(age), Memory: int64(l.used(float64(int64(age)))), HitRatio: 0.5})
	}
	r.Evicting, r.EvictedAge = l.evicts(memory, observed)
	return r
}

// evicts reports whether items are evicted, and their age.
func (l load) evicts(memory int64, observed time.Duration) (bool, int64) {
	if float64(memory) >= l.all {
		return false, 0
	}
	age := l.haste * l.ageOf(float64(memory))
	return age < observed.Seconds(), int64(age)
}

// cache is a cache whose use is simulated.
type cache struct {
	in       Input
	observed time.Duration
}

func randomCache(random *rand.Rand) *cache {
	least := int64(16+random.IntN(1000)) * mebibyte
	c := &cache{in: Input{
		Policy: Policy{
			Acts: true, Min: least, Max: least * int64(1+random.IntN(64)), Age: time.Duration(60+random.IntN(43000)) * time.Second,
			Cooldown: time.Duration(1+random.IntN(100)) * time.Minute,
		},
		Now: now,
	}}
	c.in.State.Memory = c.in.Policy.Within(int64(math.Exp2(24 + 12*random.Float64())))
	return c
}

// decide simulates some minutes, and returns the memory before and after. The curve is of the busiest time of the last
// day.
func (c *cache) decide(t *testing.T, step time.Duration, l, busiest load) (before, after int64) {
	c.in.Now, c.observed = c.in.Now.Add(step), c.observed+step
	before = c.in.State.Memory
	report := busiest.report(before, c.observed)
	report.Evicting, report.EvictedAge = l.evicts(before, c.observed)
	c.in.Reports.Seen = []Seen{{At: c.in.Now, Report: report}}
	decided := Decide(c.in)
	after = decided.Memory
	if before != after {
		c.check(t, before, after)
	}
	c.in.State = decided
	return before, after
}

// check checks a step.
func (c *cache) check(t *testing.T, before, after int64) {
	t.Helper()
	policy, since := c.in.Policy, c.in.Now.Sub(c.in.State.Changed)
	switch {
	case after < policy.Min || after > policy.Max:
		t.Errorf("%d is not between %d and %d", after, policy.Min, policy.Max)
	case since < policy.Cooldown:
		t.Errorf("a step after %s, with a cooldown of %s", since, policy.Cooldown)
	case after < before && (since < unhurried*policy.Cooldown || c.observed < day):
		t.Errorf("a smaller memory after %s, and %s of observation", since, c.observed)
	case after > round(2*before), after < before/5*4:
		t.Errorf("a step from %d to %d", before, after)
	}
}

func TestUnderAConstantLoadTheMemoryComesToRest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // A test.
	for range 150 {
		c, l := randomCache(random), randomLoad(random)
		turns, steps, last, late := 0, 0, int64(0), 0
		const days = 12
		for i := range days * 24 * 12 {
			before, after := c.decide(t, 5*time.Minute, l, l)
			if before == after {
				continue
			}
			steps++
			if last != 0 && (after > before) != (last > 0) {
				turns++
			}
			if last = after - before; i > (days-2)*24*12 {
				late++
			}
		}
		if turns > 1 {
			t.Errorf("it turned %d times in %d steps: %+v, %+v", turns, steps, l, c.in.Policy)
		}
		has := float64(c.in.State.Memory)
		wanted := float64(c.in.Policy.Within(int64(l.used(c.in.Policy.Age.Seconds()))))
		if late == 0 && (has < 0.96*wanted && has < l.all || has > 1.3*wanted && l.haste > 0.99) {
			t.Errorf("it rests at %.0f, and %.0f is needed: %+v, %+v", has, wanted, l, c.in.Policy)
		}
	}
}

// getsNoLess checks that a load that is larger by this factor gets at least as much memory.
func (c *cache) getsNoLess(t *testing.T, l load, times float64, report func(load) usage.Report) {
	t.Helper()
	decided := func(l load) int64 {
		in := c.in
		in.Reports.Seen = []Seen{{At: in.Now, Report: report(l)}}
		return Decide(in).Memory
	}
	more := l
	more.all *= times
	if less, more := decided(l), decided(more); more < less {
		t.Errorf("%d, and %d with a larger load: %+v, %s, %+v", less, more, l, c.observed, c.in)
	}
}

func TestAMoreDemandingLoadNeverGetsLess(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // A test.
	for range 5000 {
		c, l := randomCache(random), randomLoad(random)
		c.observed = time.Duration(random.Int64N(int64(2 * day)))
		c.in.State.Changed = now.Add(-time.Duration(random.Int64N(int64(day))))
		if random.IntN(4) == 0 {
			c.in.State.Refused = c.in.State.Memory * 2
		}
		c.getsNoLess(t, l, 1+random.Float64(), func(l load) usage.Report { return l.report(c.in.State.Memory, c.observed) })
	}
}

func TestWithoutReportsNothingChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // A test.
	for range 1000 {
		c := randomCache(random)
		if random.IntN(2) == 0 {
			late := randomLoad(random).report(c.in.State.Memory, day)
			c.in.Reports.Seen = []Seen{{At: now.Add(-fresh - time.Duration(random.Int64N(int64(day)))), Report: late}}
		}
		if decided := Decide(c.in); decided.Memory != c.in.State.Memory {
			t.Errorf("%d becomes %d", c.in.State.Memory, decided.Memory)
		}
	}
}
