package usual

// Finds deviations.

import (
	"fmt"
	"math"
	"time"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

const (
	// A difference of far times the spread begins a deviation, and a difference of less than near times the spread ends
	// it.
	far  = 7
	near = 4

	// scarce is a difference of connections that is too small to matter, and quick a difference of latency, in
	// microseconds.
	scarce = 20
	quick  = 2000
)

// rule describes a deviation that a user wants to know about.
type rule struct {
	signal int
	reason string

	// sign is -1 for less than usual, and 1 for more.
	sign float64

	// least is the smallest difference that counts, in points or doublings.
	least float64

	// says is the format of the message, for the current and the usual value.
	says string
}

// rules are in the order in which they matter: the first one is the reason of the condition.
var rules = []rule{
	{HitRatio, cachev1.ReasonHitRatioFell, -1, 5, "%.0f %% of the reads find their item, usually %.0f %%"},
	{EvictionAge, cachev1.ReasonEvictedSooner, -1, 1, "items are evicted after %s without use, usually after %s"},
	{Connections, cachev1.ReasonConnectionsRose, 1, 0.6, "a Pod has %.0f connections, usually %.0f"},
	{Connections, cachev1.ReasonConnectionsFell, -1, 1.6, "a Pod has %.0f connections, usually %.0f"},
	{Latency, cachev1.ReasonLatencyRose, 1, 1.6, "memcached answers in %.1f ms, usually in %.1f ms"},
}

// deviations returns the current deviations, and whether anything was compared. A deviation remains as long as nothing
// can be compared: it does not end because the operator has just started, or because clients do nothing for a while.
func (in Input) deviations(day Day) (found []Deviation, compared bool) {
	for _, r := range rules {
		before := day.deviation(r.reason)
		now, last := in.compare(day, r, in.Now, before != nil), in.compare(day, r, in.Now.Add(-quarter), before != nil)
		compared = compared || now.known
		switch {
		case before != nil && now.known && last.known && !now.deviates && !last.deviates:
		case before != nil:
			found = append(found, *before)
		case now.deviates && last.deviates:
			found = append(found, Deviation{r.reason, r.explain(now.value, now.usual)})
		}
	}
	return found, compared
}

// comparison is a comparison of a quarter of an hour with the usual values.
type comparison struct {
	value, usual    float64
	known, deviates bool
}

// Reasons returns the reasons of deviations.
func Reasons() []string {
	var reasons []string
	for _, r := range rules {
		reasons = append(reasons, r.reason)
	}
	return reasons
}

// compare compares the quarter of an hour that ends at the time ends. A value that is usual an hour earlier or later is
// no deviation, because people may come earlier or later, and their clocks change twice a year.
func (in Input) compare(day Day, r rule, ends time.Time, did bool) comparison {
	value, ok := median(in.Moments, r.signal, ends)
	at := ends.Add(-quarter / 2)
	usual, _, known := day.at(r.signal, at)
	if !ok || !known || !day.isLearned(r.signal, at, in.QuietDays) {
		return comparison{}
	}
	found := comparison{value, valueOf(r.signal, usual), true, !r.isHarmless(value, in.Age, did)}
	for _, shift := range []time.Duration{-time.Hour, 0, time.Hour} {
		if usual, spread, known := day.at(r.signal, at.Add(shift)); known {
			found.deviates = found.deviates && r.deviates(value, usual, spread, did)
		}
	}
	return found
}

// isHarmless reports whether items stay for at least this age. If the cache deviated before, they have to stay clearly
// longer.
func (r rule) isHarmless(value float64, age time.Duration, did bool) bool {
	if did {
		age = age / 2 * 3
	}
	return r.signal == EvictionAge && value >= age.Seconds()
}

// deviation returns the deviation with a reason that was found before; nil if there is none.
func (d *Day) deviation(reason string) *Deviation {
	for i := range d.Deviations {
		if d.Deviations[i].Reason == reason {
			return &d.Deviations[i]
		}
	}
	return nil
}

// deviates reports whether a value deviates from the usual one. A value that deviated before has to come nearer to the
// usual one before it counts as usual again.
func (r rule) deviates(value, usual, spread float64, did bool) bool {
	times, least := float64(far), r.least
	if did {
		times, least = near, r.least*near/far
	}
	difference := r.sign * (level(r.signal, value) - usual)
	if difference < max(times*spread, least) {
		return false
	}
	return did || r.matters(value, valueOf(r.signal, usual))
}

// matters reports whether a difference would matter to a user. These differences matter: twice as many misses, which
// the backend has to answer, or half of the hits; a few clients more or less; and a latency that exceeds that of the
// network.
func (r rule) matters(value, usual float64) bool {
	switch r.signal {
	case HitRatio:
		return 100-value >= 2*(100-usual) || value <= usual/2
	case Connections:
		return math.Abs(value-usual) >= scarce
	case Latency:
		return value-usual >= quick
	}
	return true
}

func (r rule) explain(value, usual float64) string {
	switch r.signal {
	case EvictionAge:
		return fmt.Sprintf(r.says, seconds(value), seconds(usual))
	case Latency:
		return fmt.Sprintf(r.says, value/1000, usual/1000)
	}
	return fmt.Sprintf(r.says, value, usual)
}

func seconds(value float64) string {
	if value >= none {
		return "a day or more"
	}
	return time.Duration(math.Round(value) * float64(time.Second)).String()
}
