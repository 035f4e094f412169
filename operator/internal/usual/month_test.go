package usual

// Simulates months, to find out how many of the reported deviations are wrong, and how soon real deviations are found.

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// cache is a cache whose use is simulated, minute by minute. The random figures are similar to those that Yang et al.
// report for Twitter's caches (OSDI '20): miss ratios of a few percent to half, swings by day and week, scans and
// bursts.
type cache struct {
	random                              *rand.Rand
	swing, phase, weekend, growth       float64
	misses, steep, age, clients, micros float64
	cron                                float64 // the factor of a nightly job on misses; 1 for none
	drift                               [signals]float64
	today                               float64 // the factor of today on the load

	// The factors of accidents until these end: scans miss more, bursts are more requests, and neighbours take CPU
	// time.
	scan, burst, neighbour          float64
	scanEnds, burstEnds, neighbours int

	moments []Moment
	day     Day
	now     time.Time
	minute  int

	// calm: the cache has no accidents.
	calm bool

	// broken changes what is reported.
	broken func(*Values)
}

// monday is in the winter, so that no clock changes.
var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

func newCache(seed uint64) *cache {
	random := rand.New(rand.NewPCG(seed, 1))
	between := func(from, to float64) float64 { return from + (to-from)*random.Float64() }
	c := &cache{
		random: random, swing: between(0.2, 0.8), phase: between(0, 24), weekend: between(0.5, 1), growth: between(0, 0.3),
		misses: math.Exp(between(math.Log(0.005), math.Log(0.5))), steep: between(-0.5, 0.2),
		age: math.Exp(between(math.Log(600), math.Log(20000))), clients: math.Exp(between(math.Log(3), math.Log(3000))),
		micros: between(30, 300), cron: 1, scan: 1, burst: 1, neighbour: 1, day: New(monday), now: monday,
	}
	if random.IntN(2) == 0 {
		c.cron = between(1, 4)
	}
	return c
}

// step simulates a minute.
func (c *cache) step() {
	c.now, c.minute = c.now.Add(time.Minute), c.minute+1
	if c.minute%1440 == 1 {
		c.today = math.Exp(0.1 * c.random.NormFloat64())
	}
	for signal := range c.drift { // the part of each signal that changes slowly, within an hour
		c.drift[signal] = c.drift[signal]*0.98 + 0.2*c.random.NormFloat64()
	}
	if !c.calm {
		c.accidents()
	}
	values := c.values()
	if c.broken != nil {
		c.broken(&values)
	}
	c.moments = append(c.moments, Moment{c.now, "a", values})
	c.moments = c.moments[max(0, len(c.moments)-int(Kept/time.Minute)):]
	if c.minute%5 == 0 {
		c.day = Decide(Input{
			Day: c.day, Moments: c.moments, Since: monday, QuietDays: week, Age: time.Hour, Now: c.now,
		})
	}
}

// accidents starts, on average, one scan and one burst in two weeks, and one loud neighbour a day.
func (c *cache) accidents() {
	happens := func(days float64, minutes int, size *float64, most float64, ends *int) {
		switch {
		case c.minute >= *ends && c.random.Float64() < 1/(days*1440):
			*size, *ends = 1+(most-1)*c.random.Float64(), c.minute+1+c.random.IntN(minutes)
		case c.minute >= *ends:
			*size = 1
		}
	}
	happens(14, 60, &c.scan, 3, &c.scanEnds)
	happens(14, 30, &c.burst, 3, &c.burstEnds)
	happens(1, 30, &c.neighbour, 10, &c.neighbours)
}

func (c *cache) values() Values {
	hour := float64(c.minute%1440) / 60
	load := (1 - c.swing/2 + c.swing/2*math.Cos(2*math.Pi*(hour-c.phase)/24)) * c.today * c.burst
	load *= 1 + c.growth*float64(c.minute)/(30*1440)
	if c.minute/1440%7 >= 5 {
		load *= c.weekend
	}
	misses := c.misses * math.Pow(load, c.steep) * c.scan * math.Exp(0.15*c.drift[HitRatio]*0.2)
	if hour >= 3 && hour < 3.5 {
		misses *= c.cron
	}
	misses = min(misses, 0.9)
	misses += 0.005 * c.random.NormFloat64()
	return Values{
		HitRatio:    100 * min(max(1-misses, 0), 1),
		EvictionAge: c.age / load / c.scan * math.Exp(0.1*c.drift[EvictionAge]+0.2*c.random.NormFloat64()),
		Connections: math.Round(c.clients * (0.7 + 0.3*load) * math.Exp(0.05*c.drift[Connections])),
		Latency:     c.micros * c.neighbour * math.Exp(0.1*c.drift[Latency]+0.4*c.random.NormFloat64()),
	}
}

// found steps for some days, and counts the deviations that begin, by reason.
func (c *cache) found(days int, counts map[string]int) {
	before := map[string]bool{}
	for range days * 1440 {
		c.step()
		now := map[string]bool{}
		for _, deviation := range c.day.Deviations {
			now[deviation.Reason] = true
			if !before[deviation.Reason] {
				counts[deviation.Reason]++
			}
		}
		before = now
	}
}

// TestAMonthHasAtMostOneDeviation allows each cache, on average, one deviation a month after the first week. Nearly all
// of these deviations are real: scans, bursts and loud neighbours.
func TestAMonthHasAtMostOneDeviation(t *testing.T) {
	for name, test := range map[string]struct {
		calm bool
		most float64 // a month
	}{
		"with accidents":    {false, 1},
		"without accidents": {true, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const caches = 20
			counts, all := map[string]int{}, 0
			for seed := range uint64(caches) {
				c := newCache(seed)
				c.calm = test.calm
				c.found(7, map[string]int{})
				c.found(30, counts)
			}
			for _, count := range counts {
				all += count
			}
			t.Logf("%d in %d months: %v", all, caches, counts)
			if float64(all) > test.most*caches {
				t.Errorf("more than %v a month", test.most)
			}
		})
	}
}

// TestADeviationIsFoundWithinHalfAnHour checks this for nearly all caches that have learned for a week.
func TestADeviationIsFoundWithinHalfAnHour(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		breaks  func(*Values)
		applies func(Values) bool // whether it harms a cache with these values
	}{
		cachev1.ReasonHitRatioFell: {breaks: func(v *Values) { v[HitRatio] = min(v[HitRatio]/2.2, 60) }},
		cachev1.ReasonEvictedSooner: {
			func(v *Values) { v[EvictionAge] = min(v[EvictionAge]/8, 900) },
			func(v Values) bool { return v[EvictionAge] > 3600 },
		},
		cachev1.ReasonConnectionsRose: {breaks: func(v *Values) { v[Connections] = 3*v[Connections] + 50 }},
		cachev1.ReasonConnectionsFell: {
			func(v *Values) { v[Connections] = max(v[Connections]/10-5, 0) },
			func(v Values) bool { return v[Connections] > 50 },
		},
		cachev1.ReasonLatencyRose: {breaks: func(v *Values) { v[Latency] = 20*v[Latency] + 3000 }},
	}
	const caches = 20
	found, wanted := map[string]int{}, map[string]int{}
	for seed := range uint64(caches) {
		learned := newCache(seed)
		learned.found(7, map[string]int{})
		learned.found(learned.random.IntN(2), map[string]int{})
		for range learned.random.IntN(1440) {
			learned.step()
		}
		for reason, test := range tests {
			if test.applies != nil && !test.applies(learned.values()) {
				continue
			}
			wanted[reason]++
			if learned.finds(reason, test.breaks) {
				found[reason]++
			}
		}
	}
	t.Logf("found %v of %v", found, wanted)
	for reason := range tests {
		if wanted[reason] < caches/3 || found[reason]*100 < wanted[reason]*95 {
			t.Errorf("%s: found %d of %d", reason, found[reason], wanted[reason])
		}
	}
}

// finds reports whether a deviation is found within half an hour, in a copy of the cache.
func (c *cache) finds(reason string, breaks func(*Values)) bool {
	broken := *c
	broken.moments, broken.broken = slices.Clone(c.moments), breaks
	for range 31 {
		broken.step()
		if broken.day.deviation(reason) != nil {
			return true
		}
	}
	return false
}

// TestWhatChangesForGoodIsUsualAfterDays says for how long a deviation is reported at most.
func TestWhatChangesForGoodIsUsualAfterDays(t *testing.T) {
	t.Parallel()
	days := map[int]int{}
	for seed := range uint64(10) {
		c := newCache(seed)
		c.calm = true
		c.found(7, map[string]int{})
		c.broken = func(v *Values) { v[HitRatio] = min(v[HitRatio]/2.2, 60) }
		last := 0
		for day := range 30 {
			c.found(1, map[string]int{})
			if len(c.day.Deviations) > 0 {
				last = day + 1
			}
		}
		days[last]++
	}
	t.Logf("days until it is usual, and of how many caches: %v", days)
	if days[30] > 0 {
		t.Errorf("%d caches deviate for ever", days[30])
	}
}
