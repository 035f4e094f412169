package autoscale

// The findings about the memory, or the number of Pods, that a user reads.

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
)

// Reason is the kind of a finding.
type Reason string

// Reasons.
const (
	// Observing: the requests are observed, but not for long enough.
	Observing Reason = cachev1.MemoryObserving

	// Silent: no Pod has reported.
	Silent Reason = cachev1.MemorySilent

	// TooSmall: items are evicted before the age.
	TooSmall Reason = cachev1.MemoryTooSmall

	// Fits: the memory is about what is recommended.
	Fits Reason = cachev1.MemoryFits

	// TooLarge: less memory would be enough.
	TooLarge Reason = cachev1.MemoryTooLarge
)

// Unknown stands for a ratio that is not known.
const Unknown = -1

// Finding compares the memory of the Pods with their use. A finding stays the same until something clearly differs,
// because each new finding is written to the status.
type Finding struct {
	Reason  Reason
	Message string

	// Recommended is the recommended memory in bytes; 0 while it is unknown.
	Recommended int64

	// Expected is the hit ratio with the recommended memory, and HitRatio the reported hit ratio, both in percent, or
	// Unknown.
	Expected, HitRatio int32
}

// find returns the new finding.
func (in Input) find(s signals) Finding {
	before, has := in.State.Finding, in.State.Memory
	if len(s.reports) == 0 && before.Reason != "" && (!s.isSilent || !in.isSilent()) {
		return before // The operator has just started, or the memory has just been changed.
	}
	found := Finding{Recommended: s.recommended(in.Policy, has), HitRatio: percent(s.hitRatio), Expected: Unknown}
	found.Recommended = in.steady(s, before.Recommended, found.Recommended)
	if found.Recommended > 0 {
		found.Expected = percent(s.expected(found.Recommended / max(in.pods(), 1)))
	}
	found.Reason, found.Message = in.explain(s, found.Recommended)
	if found.Recommended == 0 && before.Recommended > 0 {
		// An agent was restarted or can't be reached, or the number of Pods changed: the recommendation from before is
		// the best estimate.
		found.Recommended = in.Policy.Within(before.Recommended)
		found.Expected, found.HitRatio = before.Expected, before.HitRatio
	}
	found.Expected = similar(before.Expected, found.Expected)
	found.HitRatio = similar(before.HitRatio, found.HitRatio)
	return found
}

// explain returns why a memory is recommended, in a text without values that change with each report.
func (in Input) explain(s signals, recommended int64) (Reason, string) {
	age, has, bytes := in.Policy.Age, in.State.Memory, in.Policy.amount
	switch {
	case s.isSilent && in.isSilent():
		return Silent, fmt.Sprintf("No Pod has reported for %s how its memory is used: see docs/sizing.md", fresh)
	case s.isMixed && s.evictedBefore(in.tooYoung()):
		return TooSmall, fmt.Sprintf("Items are evicted that were used less than %s ago. "+
			"It is unknown how many Pods would keep these items, until %s after the last change to the number of Pods",
			in.tooYoung(), unmixed(age))
	case s.isMixed:
		return Observing, fmt.Sprintf("A recommendation needs %s of observation with the same number of Pods", unmixed(age))
	case recommended == 0 && s.skips() && s.evictedBefore(in.tooYoung()):
		return TooSmall, fmt.Sprintf("Items are evicted that were used less than %s ago. It is unknown %s would keep "+
			"them, because memcached's log leaves out more than a tenth of the requests", in.tooYoung(), in.Policy.howMuch())
	case recommended == 0 && s.evictedBefore(in.tooYoung()):
		return TooSmall, fmt.Sprintf("Items are evicted that were used less than %s ago. "+
			"It is unknown %s would keep them, until requests have been observed for %s",
			in.tooYoung(), in.Policy.howMuch(), 2*age)
	case s.needed == 0 && s.skips():
		return Observing, "Memcached's log leaves out more than a tenth of the requests, so it is unknown how its " +
			"memory is used"
	case recommended == 0:
		return Observing, fmt.Sprintf("A recommendation needs %s of observation", 2*age)
	case s.needed > in.Policy.Max:
		return compare(has, s.needed, fmt.Sprintf("Items that are not used stay for %s "+
			"only with more than the maximum of %s. %s", age, bytes(in.Policy.Max), in.Policy.have(has)))
	case s.isUnderestimated(age) && recommended <= has:
		return TooSmall, fmt.Sprintf("Items are evicted that were used less than %s ago, "+
			"although, by the estimate, they should stay for %s with %s. %s",
			age/2, age, bytes(recommended), in.Policy.have(has))
	case in.Policy.round(s.needed) < in.Policy.Min:
		return compare(has, max(s.needed, min(in.Policy.Min, has)), fmt.Sprintf("Even with less than the minimum of %s, "+
			"items that are not used would stay for %s. %s", bytes(in.Policy.Min), age, in.Policy.have(has)))
	case in.isMore(recommended):
		return TooSmall, fmt.Sprintf("Items that are not used would stay for %s with %s, "+
			"but stay for a shorter time with %s", age, bytes(recommended), bytes(has))
	case recommended <= has/5*4 && has <= in.suffices():
		return Fits, fmt.Sprintf("Items that are not used should stay for %s with %s, "+
			"but they were evicted sooner when the cache had %s", age, bytes(recommended), bytes(in.State.TooLittle.Memory))
	case recommended <= has/5*4:
		return TooLarge, fmt.Sprintf("Items that are not used would stay for %s even with %s. %s", age,
			bytes(recommended), in.Policy.have(has))
	}
	return Fits, fmt.Sprintf("Items that are not used stay for about %s", age)
}

// amount returns a memory in the unit of the spec: as the memory of each Pod, or as a number of Pods.
func (p Policy) amount(count int64) string {
	switch {
	case p.Pod == 0:
		return bytes(count)
	case count == p.Pod:
		return "1 Pod"
	}
	return fmt.Sprintf("%d Pods", count/p.Pod)
}

func (p Policy) have(count int64) string {
	if p.Pod == 0 {
		return "The Pods have " + p.amount(count)
	}
	return "The cache has " + p.amount(count)
}

func (p Policy) howMuch() string {
	if p.Pod == 0 {
		return "how much memory"
	}
	return "how many Pods"
}

func (p Policy) field() string {
	if p.Pod == 0 {
		return "spec.autoscaling.memory"
	}
	return "spec.autoscaling.size"
}

// compare returns whether the memory that the Pods have is too small or too large for their need, or fits it.
func compare(has, needed int64, message string) (Reason, string) {
	switch {
	case needed > has/32*33:
		return TooSmall, message
	case needed <= has/5*4:
		return TooLarge, message
	}
	return Fits, message
}

// isSilent reports whether reports have been read for long enough to conclude that no Pod reports.
func (in Input) isSilent() bool {
	return !in.Reports.Since.IsZero() && in.Now.Sub(in.Reports.Since) >= fresh
}

// skips reports whether a Pod observes too few of its requests, because memcached skips them in its log.
func (s signals) skips() bool {
	for _, report := range s.reports {
		if report.Skipped > mostSkipped {
			return true
		}
	}
	return false
}

// steady returns the former recommendation instead of a lower one, as long as the former recommendation would still
// result from a need that is a tenth higher than the current need.
func (in Input) steady(s signals, before, now int64) int64 {
	if now > 0 && now <= before && in.Policy.Within(in.Policy.round(s.needed/9*10)) >= before {
		return before
	}
	return now
}

// similar returns the former percentage as long as the new one differs by at most one point.
func similar(before, now int32) int32 {
	if before >= 0 && now >= 0 && max(now-before, before-now) <= 1 {
		return before
	}
	return now
}

func percent(ratio float64) int32 {
	if ratio < 0 {
		return Unknown
	}
	return int32(math.Round(100 * min(ratio, 1)))
}

func bytes(count int64) string { return resource.NewQuantity(count, resource.BinarySI).String() }
