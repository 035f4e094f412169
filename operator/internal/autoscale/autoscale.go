// Package autoscale decides how much memory the Pods of a cache should have, or how many Pods the cache should have,
// from the reports of the Pods' agents. It is pure.
//
// The recommendation is the least memory in which an item that is not used stays for the age that the spec aims for. A
// cache is always full, so the amount of data in it does not show whether its memory is enough, but the age of the
// items that it evicts does. If the number of Pods changes instead of their memory, the question is the same: the
// answer is then the memory of all Pods together, rounded up to whole Pods.
package autoscale

import (
	"cmp"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const (
	// fresh is how long a report counts. The Pods of a cache report one after another, one each minute.
	fresh = 10 * time.Minute

	// avoided is how long steps avoid an amount of memory that a Pod could not get.
	avoided = time.Hour

	// resizeTime is how long the Pods may take to get the memory of a step.
	resizeTime = 2 * time.Minute

	// window is how far back the evictions in a report go.
	window = 5 * time.Minute

	// skewed is how much the clocks of two Nodes may differ.
	skewed = time.Hour

	// day is how long the use must be observed before memory is reduced, because caches are used differently by day and by
	// night.
	day = 24 * time.Hour

	// unhurried is how many cooldowns have to pass since the last step before a step that reduces memory.
	unhurried = 6

	// noted is the interval at which State.Changed is renewed while the number of Pods is still changing.
	noted = 10 * time.Minute

	// listed is how long clients may still use the former list of Pods after the number of Pods changed.
	listed = time.Hour

	mebibyte = 1 << 20
)

// Policy has the settings in the spec.
type Policy struct {
	// Acts: the operator gives the Pods the recommended memory, and does not only report it.
	Acts bool

	// Pod is the memory of each Pod, in bytes, if the number of Pods changes. All amounts of memory are then those of
	// all Pods together. Pod is 0 if the memory of each Pod changes.
	Pod int64

	// Min and Max are the bounds of the memory for items, in bytes.
	Min, Max int64

	// Age is how long an unused item is to stay in memory, and Cooldown the least time between two steps.
	Age, Cooldown time.Duration
}

// State is the last decision.
type State struct {
	// Memory is the memory that the Pods are to have, in bytes. Changed is when it was last changed; zero if it never
	// was.
	Memory  int64
	Changed time.Time

	// Refused is the memory that a Pod could not get; 0 if none. It is forgotten an hour after the last change.
	Refused int64

	// Former is the memory that the Pods had before the last change, in bytes, if the operator may have to restore it:
	// after the operator gave each Pod more memory, because a Pod may not get that memory, and after the operator removed
	// Pods. Otherwise, Former is 0.
	Former int64

	// TooLittle is the memory of all Pods together that was last found to be too little; zero if no memory was too little,
	// or if the last finding no longer counts.
	TooLittle TooLittle

	// Finding is the last finding.
	Finding Finding

	// Why is why this decision changed Memory; empty if it did not.
	Why string
}

// Seen is a report of a Pod, and when the operator read it.
type Seen struct {
	At     time.Time
	Report usage.Report
}

// Reports are the reports of the Pods of a cache.
type Reports struct {
	// Since is the time since which reports are read from Pods; zero if none has been read yet. Sampled is how many
	// Pods are read, one after another.
	Since   time.Time
	Sampled int

	Seen []Seen
}

// Input is what a decision depends on.
type Input struct {
	Policy  Policy
	State   State
	Reports Reports
	Now     time.Time

	// Busy: the cache is not ready, so that no step is taken. Changing: the number of Pods is not the desired one yet.
	Busy, Changing bool

	// Refused: a Pod that had the former memory can't get the current memory.
	Refused bool
}

// Decide returns the new finding, and the memory that the Pods are to have from now on.
func Decide(in Input) State {
	s := in.signals()
	in.State.TooLittle = in.tooLittle(s)
	now := in.State
	now.Finding = in.find(s)
	if in.Changing && in.sinceChange() >= noted {
		now.Changed = in.Now
	}
	if in.Policy.Acts {
		in.act(s, &now)
	}
	return now
}

// act takes the next step, if one is due. Changed bounds of the spec apply immediately.
func (in Input) act(s signals, now *State) {
	has, since := now.Memory, in.sinceChange()
	if now.Refused > 0 && since >= avoided {
		now.Refused = 0
	}
	if former := in.Policy.Within(now.Former); in.Refused && since >= resizeTime && now.Former > 0 && former < has {
		now.change(former, in.Now, "A Pod could not get "+bytes(has))
		now.Refused, now.Former = has, 0
		return
	}
	next, why := in.Policy.Within(has), in.Policy.field()+" has other bounds"
	if next == has && !in.Busy {
		next, why = in.step(s, since), now.Finding.Message
		if next > has && in.Policy.Pod > 0 {
			now.TooLittle = TooLittle{Memory: has, Needed: cmp.Or(s.needed, now.TooLittle.Needed), Since: in.Now}
		}
	}
	if next != has {
		now.change(next, in.Now, why)
		now.Former = in.formerOf(has, next)
		if next >= now.Refused {
			now.Refused = 0
		}
	}
}

// formerOf returns the memory that the Pods may have to get again after a change.
func (in Input) formerOf(has, next int64) int64 {
	former := in.State.Former
	switch isLess := next < has; {
	case !isLess && in.Refused && former > 0: // Some Pods still have that memory.
		return min(former, has)
	case isLess == (in.Policy.Pod > 0):
		return has
	case in.Policy.Pod > 0 && next < former: // Not all removed Pods were added again.
		return former
	}
	return 0
}

func (s *State) change(memory int64, at time.Time, why string) {
	s.Memory, s.Changed, s.Why = memory, at, why
}

// sinceChange returns how long ago the memory was changed. If the time of the change is far in the future, it is from a
// wrong clock, and sinceChange returns a day.
func (in Input) sinceChange() time.Duration {
	since := in.Now.Sub(in.State.Changed)
	switch {
	case since < -skewed:
		return day
	case since < 0:
		return 0
	}
	return since
}

// step returns the memory after the next step, or the memory that the Pods have if no step is due. A step at most
// doubles the memory. It removes at most a fifth of the memory or, if the number of Pods changes and a Pod is more than
// that, one Pod.
func (in Input) step(s signals, since time.Duration) int64 {
	has := in.State.Memory
	needed, isShort := in.needed(s)
	switch {
	case isShort && since >= in.Policy.Cooldown:
		next := in.Policy.Within(in.Policy.round(min(needed, 2*has)))
		if refused := in.State.Refused; refused > 0 && next >= refused && since < avoided {
			return has
		}
		return max(next, has)
	case in.isIdle(s) && since >= unhurried*in.Policy.Cooldown:
		least := max(in.State.Finding.Recommended, s.recommended(in.Policy, has), in.Policy.smaller(has), in.suffices())
		return min(has, in.Policy.Within(in.Policy.round(least)))
	}
	return has
}

// needed returns the memory that the Pods need, and whether that is more than they have. Memcached evicts items earlier
// if they were used only once. So, if the memory is enough according to the curve, or was enough before the agents or
// the number of Pods changed, an evicted item only counts as evicted too early if it stayed for less than half the age.
func (in Input) needed(s signals) (bytes int64, isShort bool) {
	has := in.State.Memory
	switch {
	case s.isMixed, s.needed == 0 && in.Policy.Pod == 0:
		most := in.most(s)
		return min(has/4*5, most), has < most && s.evictedBefore(in.tooYoung())
	case in.isMore(s.needed) && s.isEvicting:
		return s.needed, true
	case s.isUnderestimated(in.Policy.Age):
		return min(has/8*9, 2*s.needed), has < 2*s.needed
	}
	return has, false
}

// most returns how much memory the Pods may get at most while their need is unknown. If memcached skips requests in its
// log, a former recommendation does not count, because memcached skips them when it gets more requests than before.
func (in Input) most(s signals) int64 {
	if in.Policy.Pod == 0 && (in.State.Finding.Recommended == 0 || s.skips()) {
		return in.Policy.Max
	}
	return max(2*in.State.Finding.Recommended, in.State.Former)
}

// tooYoung returns how long an evicted item should have stayed, while the need of the Pods is unknown.
func (in Input) tooYoung() time.Duration {
	if in.State.Finding.Recommended == 0 {
		return in.Policy.Age
	}
	return in.Policy.Age / 2
}

// isMore reports whether an amount is clearly more than the Pods have: by a 32nd or, if their number changes, by one
// Pod.
func (in Input) isMore(bytes int64) bool {
	if in.Policy.Pod > 0 {
		return in.Policy.round(bytes) > in.State.Memory
	}
	return bytes > in.State.Memory/32*33
}

// isIdle reports whether the Pods need clearly less memory than they have, as a whole day of observation shows.
func (in Input) isIdle(s signals) bool {
	return s.isKnown && s.observed >= day && !s.evictedBefore(in.Policy.Age) && len(s.reports) >= in.Reports.Sampled &&
		s.recommended(in.Policy, in.State.Memory) <= in.State.Memory/5*4
}

// Within limits a memory to the bounds of the spec.
func (p Policy) Within(bytes int64) int64 { return max(p.Min, min(bytes, p.Max)) }

// round rounds a memory up: to whole Pods, if their number changes.
func (p Policy) round(bytes int64) int64 {
	if p.Pod > 0 {
		return (bytes + p.Pod - 1) / p.Pod * p.Pod
	}
	return round(bytes)
}

// smaller returns the least memory to which one step may lead.
func (p Policy) smaller(bytes int64) int64 {
	if p.Pod > 0 {
		return bytes - max(bytes/5/p.Pod, 1)*p.Pod
	}
	return bytes / 5 * 4
}

// pods returns how many Pods share the amounts of memory: 1 if these are the amounts for each Pod.
func (in Input) pods() int64 {
	if in.Policy.Pod > 0 {
		return in.State.Memory / in.Policy.Pod
	}
	return 1
}

// round rounds a memory up to a 32nd of the power of two below it, and to whole mebibytes, so that the result does not
// change with each report.
func round(bytes int64) int64 {
	step := int64(mebibyte)
	for step <= bytes/64 {
		step *= 2
	}
	return (bytes + step - 1) / step * step
}
