package handoff

// Finds out whether the time suffices for a copy.

import (
	"math"
	"sync"
	"time"
)

// rate returns how many bytes per second may be copied now; 0 is no limit. If the copy is late, there is no limit for
// the last keys. Otherwise the rate is at least high enough to complete the copy in half of the time that is left,
// because the speed may fall.
func (h *Handoff) rate(now time.Time) float64 {
	const part = 2
	limit, due, late := float64(h.Settings.Rate), h.due.Load(), h.late.Load()
	switch {
	case h.isLate(now):
		return 0
	case limit <= 0 || due == nil || late == nil:
		return limit
	}
	return max(limit, part*float64(h.left.Load())/late.Sub(now).Seconds())
}

// hurries reports whether the time that is left may not be enough for the remaining keys, at the speed of the copy so
// far. From then on, the hottest keys are copied first.
func (h *Handoff) hurries(now time.Time) bool {
	const margin = 1.5
	late := h.late.Load()
	if late == nil || h.hurried.Load() {
		return late != nil
	}
	left, bytes := late.Sub(now).Seconds(), float64(h.left.Load())
	perSecond, isKnown := h.speed.at(now, left)
	if !isKnown {
		perSecond = h.rate(now)
	}
	if isKnown || perSecond > 0 {
		h.hurried.Store(margin*bytes > perSecond*left)
	}
	return h.hurried.Load()
}

// isHalfOver reports whether more than half of the time from since to h.late is over.
func (h *Handoff) isHalfOver(since, now time.Time) bool {
	late := h.late.Load()
	return late != nil && now.Sub(since) > late.Sub(since)/2
}

// isLate reports whether there is no time to copy more.
func (h *Handoff) isLate(now time.Time) bool {
	late := h.late.Load()
	return late != nil && now.After(*late)
}

// copiedOfList records that this many bytes of a list are in the new memcached. Changed keys, which are copied again,
// do not count.
func (h *Handoff) copiedOfList(bytes int64, now time.Time) {
	h.left.Add(-bytes)
	h.speed.add(bytes, now)
}

// speed is how fast keys were copied in the last seconds.
type speed struct {
	mutex          sync.Mutex
	since          time.Time // zero before the beginning
	bytes, seconds float64
	measured       time.Duration
}

// begin starts the measurement, unless it has started.
func (s *speed) begin(now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.since.IsZero() {
		s.since = now
	}
}

// add adds bytes that were copied. Earlier bytes count less and less.
func (s *speed) add(bytes int64, now time.Time) {
	const memory = 10 // seconds
	s.mutex.Lock()
	defer s.mutex.Unlock()
	passed := max(0, now.Sub(s.since))
	kept := math.Exp(-passed.Seconds() / memory)
	s.since, s.measured = now, s.measured+passed
	s.bytes, s.seconds = s.bytes*kept+float64(bytes), s.seconds*kept+passed.Seconds()
}

// at returns the speed in bytes per second. isKnown is whether the speed was measured for long enough, given how many
// seconds are left for the copy.
func (s *speed) at(now time.Time, left float64) (perSecond float64, isKnown bool) {
	const enough, ofLeft = 0.5, 0.05
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.since.IsZero() {
		return 0, false
	}
	passed := max(0, now.Sub(s.since))
	if (s.measured + passed).Seconds() < min(enough, ofLeft*left) {
		return 0, false
	}
	return s.bytes / max(1e-9, s.seconds+passed.Seconds()), true
}
