package autoscale

// Combines the reports of several Pods.

import (
	"math"
	"sort"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

// mostSkipped is the share of the requests that memcached may skip in its log. If it skips more, the curve counts as
// unknown.
const mostSkipped = 0.1

// signals are the combined values of all fresh reports. All Pods have the same memory, so the Pod that needs most
// memory determines how much all of them need.
type signals struct {
	// isMixed: the number of Pods changed while they were observed. A curve describes the busiest time of the last day, so
	// such a curve is about another number of Pods: it would show after each step that the step was too small.
	isMixed bool

	// isSilent: no Pod has reported, whatever its memory was. reports are those from Pods with the current memory.
	isSilent bool
	reports  []usage.Report

	// observed is for how long the Pods have been observed: the shortest time of any Pod.
	observed time.Duration

	// needed is the memory in which items stay for the age, in bytes; 0 while it is unknown. isKnown: each report shows
	// how much memory its Pod needs, and whether the Pod evicts items.
	needed  int64
	isKnown bool

	// hides: a report does not show whether its Pod evicts items with the current memory.
	hides bool

	// isEvicting: a Pod evicts items. evictedAge is then the shortest time for which an evicted item was not used.
	isEvicting bool
	evictedAge time.Duration

	// hitRatio is the hit ratio of all reads; negative without any reads.
	hitRatio float64
}

// signals combines the reports of all Pods.
func (in Input) signals() signals {
	last, isSilent := in.lastReports()
	s := signals{isMixed: in.isMixed(), isSilent: isSilent, observed: math.MaxInt64, hitRatio: -1}
	reads, hits := 0., 0.
	for _, seen := range last {
		s.add(seen.Report, in.saysEvictions(seen))
		reads += float64(seen.Report.Reads)
		hits += float64(seen.Report.Reads) * seen.Report.HitRatio
	}
	if reads > 0 {
		s.hitRatio = hits / reads
	}
	if !s.isMixed {
		s.needed, s.isKnown = in.neededOf(s)
		s.isKnown = s.isKnown && !s.hides
	}
	return s
}

// isMixed reports whether the number of Pods changed in the time that the reports are about.
func (in Input) isMixed() bool {
	return in.Policy.Pod > 0 && !in.State.Changed.IsZero() && in.sinceChange() < unmixed(in.Policy.Age)
}

// unmixed returns how long it takes, after a change to the number of Pods, until reports are only about the new number.
// It includes the age that the spec requires, because an item counts as used for that time.
func unmixed(age time.Duration) time.Duration { return day + age + listed }

// saysEvictions reports whether the evictions in a report happened with the current memory.
func (in Input) saysEvictions(seen Seen) bool {
	if in.Policy.Pod > 0 && seen.Report.Memory != in.Policy.Pod {
		return false // The memory of each Pod was just changed, too.
	}
	return in.sinceChange()-in.Now.Sub(seen.At) >= window
}

// lastReports returns the last fresh report of each Pod since the last change: an earlier report is not about the
// current memory. isSilent is true if there are no fresh reports at all.
func (in Input) lastReports() (last map[string]Seen, isSilent bool) {
	last, isSilent = map[string]Seen{}, true
	for _, seen := range in.Reports.Seen {
		age := in.Now.Sub(seen.At)
		if age >= fresh || age < -fresh {
			continue
		}
		isSilent = false
		if pod := seen.Report.Pod; age < in.sinceChange() && !seen.At.Before(last[pod].At) {
			last[pod] = seen
		}
	}
	return last, isSilent
}

// add adds the report of a Pod. For some time after a change, the evictions in it do not count, because the items may
// have been evicted before the change.
func (s *signals) add(report usage.Report, saysEvictions bool) {
	s.reports = append(s.reports, report)
	s.observed = min(s.observed, time.Duration(report.Observed)*time.Second)
	if s.hides = s.hides || !saysEvictions; !report.Evicting || !saysEvictions {
		return
	}
	if age := time.Duration(report.EvictedAge) * time.Second; !s.isEvicting || age < s.evictedAge {
		s.evictedAge = age
	}
	s.isEvicting = true
}

// neededOf returns the need of the Pod that needs most memory, among the Pods that have observed their use for long
// enough; 0 if none has. all is true if all Pods have observed their use for long enough.
func (in Input) neededOf(s signals) (most int64, all bool) {
	all = len(s.reports) > 0
	for _, report := range s.reports {
		bytes, ok := memoryFor(report, in.Policy.Age)
		all = all && ok
		most = max(most, bytes*in.pods())
	}
	return most, all
}

// memoryFor returns the memory in which items stay for an age.
func memoryFor(report usage.Report, age time.Duration) (bytes int64, ok bool) {
	if report.Skipped > mostSkipped {
		return 0, false
	}
	curve, seconds := report.Curve, age.Seconds()
	next := sort.Search(len(curve), func(i int) bool { return float64(curve[i].Age) >= seconds })
	switch {
	case next == len(curve):
		return 0, false
	case next == 0:
		return max(curve[0].Memory, mebibyte), true
	}
	part := between(float64(curve[next-1].Age), float64(curve[next].Age), seconds)
	from, to := curve[next-1].Memory, curve[next].Memory
	return max(from+int64(part*float64(to-from)), mebibyte), true
}

// expected returns the hit ratio with a memory, as estimated from all observed reads; negative if it is unknown.
func (s signals) expected(bytes int64) float64 {
	reads, hits := 0., 0.
	for _, report := range s.reports {
		weight := float64(max(report.Reads, 1))
		if ratio, ok := ratioWith(report.Curve, bytes); ok {
			reads, hits = reads+weight, hits+weight*ratio
		}
	}
	if reads == 0 {
		return -1
	}
	return hits / reads
}

// ratioWith returns the hit ratio with a memory. For a memory above the largest of the curve, it returns the ratio of
// the largest, which is a lower bound.
func ratioWith(curve []usage.Point, bytes int64) (ratio float64, ok bool) {
	if len(curve) == 0 {
		return 0, false
	}
	next := sort.Search(len(curve), func(i int) bool { return curve[i].Memory >= bytes })
	switch next {
	case 0:
		return curve[0].HitRatio, true
	case len(curve):
		return curve[next-1].HitRatio, true
	}
	from, to := curve[next-1], curve[next]
	part := between(float64(from.Memory), float64(to.Memory), float64(bytes))
	return from.HitRatio + part*(to.HitRatio-from.HitRatio), true
}

// between returns where a value is between two others: 0 at the first, 1 at the second.
func between(from, to, value float64) float64 {
	if to <= from {
		return 1
	}
	return (value - from) / (to - from)
}

// evictedBefore reports whether items are evicted that were used more recently than an age ago.
func (s signals) evictedBefore(age time.Duration) bool { return s.isEvicting && s.evictedAge < age }

// recommended returns the memory to recommend for Pods that now have this much (has); 0 while it is unknown.
func (s signals) recommended(policy Policy, has int64) int64 {
	if s.needed == 0 {
		return 0
	}
	if s.needed > has && s.needed <= has/10*11 && !s.isEvicting { // The need is not known that exactly.
		return policy.Within(has)
	}
	return policy.Within(policy.round(s.needed))
}

// isUnderestimated reports whether items are evicted that were used far more recently than the curve predicts.
// Memcached keeps items that were used only once for a shorter time than other items, so some evicted items are
// expected to be younger than the age.
func (s signals) isUnderestimated(age time.Duration) bool {
	return s.needed > 0 && s.evictedBefore(age/2)
}
