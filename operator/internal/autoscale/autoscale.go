// Package autoscale decides how much memory the Pods of a cache should have, or how many Pods, from what their agents
// report. It is pure.
//
// The recommendation is the least memory in which an item that is not used stays for the age that the spec aims for. A
// cache is always full, so how much it holds says nothing; how old is what it evicts does. How many Pods is the same
// question, with the memory of all of them as the answer, in whole Pods.
package autoscale

import (
	"cmp"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/usage"
)

const (
	// fresh is for how long a report counts. Pods report once a minute in turn.
	fresh = 10 * time.Minute

	// avoided is for how long no step leads to a memory that a Pod could not get.
	avoided = time.Hour

	// resizeTime is how long the Pods may take to get the memory of a step.
	resizeTime = 2 * time.Minute

	// window is the time of whose evictions a report speaks.
	window = 5 * time.Minute

	// skewed is by how much the clocks of two Nodes may differ.
	skewed = time.Hour

	// day is what must be observed before memory is taken away: caches are used differently by day and by night.
	day = 24 * time.Hour

	// unhurried is how many cooldowns are between two steps that take memory away.
	unhurried = 6

	// noted is how often it is noted that the number of Pods is still changing.
	noted = 10 * time.Minute

	// listed is for how long clients may use the former list of Pods.
	listed = time.Hour

	mebibyte = 1 << 20
)

// Policy is what the spec says.
type Policy struct {
	// Acts: the Pods get what is recommended.
	Acts bool

	// Pod is the memory of each Pod, in bytes, if the number of Pods changes. All amounts are then of all Pods together.
	// It is 0 if the memory of each Pod changes.
	Pod int64

	// Min and Max are for items, in bytes.
	Min, Max int64

	// Age is how long an item that is not used is to stay, and Cooldown the least time between two steps.
	Age, Cooldown time.Duration
}

// State is what was decided before.
type State struct {
	// Memory is what the Pods are to have, in bytes, and Changed when that was changed; zero if it never was.
	Memory  int64
	Changed time.Time

	// Refused is the memory that a Pod could not get; 0 if none. It is forgotten an hour after the last change.
	Refused int64

	// Former is what the Pods had before the last change, in bytes, if that may be wanted again: it gave them more memory
	// each, which one may not get, or it removed Pods. It is 0 otherwise.
	Former int64

	// TooLittle is the memory of all Pods together that was last too little; zero if none is known, or no longer counts.
	TooLittle TooLittle

	// Finding is the last one.
	Finding Finding

	// Why is why Memory is another one now; empty if it is not.
	Why string
}

// Seen is a report of a Pod.
type Seen struct {
	At     time.Time
	Report usage.Report
}

// Reports are those of the Pods of a cache.
type Reports struct {
	// Since is since when Pods are read; zero if they are not yet. Sampled is how many of them are read in turn.
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

	// Busy: the cache is not ready, so that no step is taken. Changing: the number of Pods is not yet what it is to be.
	Busy, Changing bool

	// Refused: a Pod that had the former memory does not get this one.
	Refused bool
}

// Decide returns what was found, and what the Pods are to have from now on.
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

// act takes the next step, if one is due. The bounds of the spec hold immediately.
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

// formerOf returns what may be wanted again after a change.
func (in Input) formerOf(has, next int64) int64 {
	former := in.State.Former
	switch isLess := next < has; {
	case !isLess && in.Refused && former > 0: // Pods still have that.
		return min(former, has)
	case isLess == (in.Policy.Pod > 0):
		return has
	case in.Policy.Pod > 0 && next < former: // Not all of the Pods have returned.
		return former
	}
	return 0
}

func (s *State) change(memory int64, at time.Time, why string) {
	s.Memory, s.Changed, s.Why = memory, at, why
}

// sinceChange returns how long ago the memory was changed. A change that is far in the future was dated by a clock that
// was wrong.
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

// step returns the memory after the next step, or what the Pods have. It grows to at most twice that, and shrinks to at
// least four fifths, or by one Pod.
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

// needed returns the memory that the Pods need, and whether that is more than they have. Memcached keeps items that
// were used once for a shorter time than others, so that half the age is enough where the curve says that it suffices,
// or said so before the agents or the number of Pods changed.
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

// most returns the memory up to which the Pods may get more while it is unknown what they need. What was recommended
// says nothing once memcached skips requests in its log: it does so when there are more of them.
func (in Input) most(s signals) int64 {
	if in.Policy.Pod == 0 && (in.State.Finding.Recommended == 0 || s.skips()) {
		return in.Policy.Max
	}
	return max(2*in.State.Finding.Recommended, in.State.Former)
}

// tooYoung returns for how long an item should have stayed that is evicted while it is unknown what the Pods need.
func (in Input) tooYoung() time.Duration {
	if in.State.Finding.Recommended == 0 {
		return in.Policy.Age
	}
	return in.Policy.Age / 2
}

// isMore reports whether a memory is clearly more than the Pods have: by a 32nd, or by a Pod.
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

// smaller returns the least memory to which one step leads.
func (p Policy) smaller(bytes int64) int64 {
	if p.Pod > 0 {
		return bytes - max(bytes/5/p.Pod, 1)*p.Pod
	}
	return bytes / 5 * 4
}

// pods returns of how many Pods together the amounts are.
func (in Input) pods() int64 {
	if in.Policy.Pod > 0 {
		return in.State.Memory / in.Policy.Pod
	}
	return 1
}

// round rounds a memory up to a 32nd of the power of two below it, and to whole mebibytes: so it does not change with
// each report.
func round(bytes int64) int64 {
	step := int64(mebibyte)
	for step <= bytes/64 {
		step *= 2
	}
	return (bytes + step - 1) / step * step
}
