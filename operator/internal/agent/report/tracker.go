// Package report reports the handoffs of the agent: in its log, as metrics, and to the operator if a handoff fails.
package report

// Tracks the progress of the handoffs of an agent.

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
)

// interval is the interval at which the progress of a copy is logged. followInterval is the interval while the handoff
// only follows changes.
const (
	interval       = 2 * time.Second
	followInterval = time.Minute
)

// Tracker tracks the handoffs of an agent, one after another.
type Tracker struct {
	mutex sync.Mutex
	stats Stats
	now   *handoff.Handoff // nil unless a handoff is in progress
	since time.Time        // when the copy in progress began; zero if there is none
	ended time.Time        // when the last copy ended; zero if there was none
	lost  string           // why the keys that the last Copy had copied are lost; empty if they are not
}

// Stats are the sums of all handoffs since the agent started.
type Stats struct {
	Keys, Bytes, Skipped, Invalidations, Failures int64

	// Duration is how long the last copy took, or has taken so far. Progress is which part of the old servers' memory it
	// has copied, from 0 to 1.
	Duration time.Duration
	Progress float64
}

// Copy waits until reach returns, and then runs a handoff that copies keys.
func (t *Tracker) Copy(ctx context.Context, h *handoff.Handoff, reach func(context.Context) error) error {
	t.begin(h, true)
	h.Hurry(h.Settings.Within) // Within counts from the instruction, not from the end of reach.
	copied, followed := h.Copied, h.Followed
	h.Copied = func() {
		t.endOfCopy()
		logProgress(h.Log, h.Progress())
		copied()
	}
	if followed != nil {
		h.Followed = func() {
			t.endOfCopy()
			logProgress(h.Log, h.Progress())
			followed()
		}
	}
	err := reach(ctx)
	if err == nil {
		err = runLogged(ctx, h)
	}
	t.end(ctx, h, err)
	return err
}

// Resume runs the Resume of a handoff.
func (t *Tracker) Resume(ctx context.Context, h *handoff.Handoff) error {
	t.begin(h, false)
	err := h.Resume(ctx, t.whyLost())
	t.end(ctx, h, err)
	return err
}

// Copied returns the time at which the last copy ended: the current time during a copy, and zero if there was none.
func (t *Tracker) Copied() time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.since.IsZero() {
		return time.Now()
	}
	return t.ended
}

// Now returns the handoff that is in progress; nil if none is.
func (t *Tracker) Now() *handoff.Handoff {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.now
}

// Lost returns why the keys that the last Copy copied are lost; empty if they are not.
func (t *Tracker) Lost() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.lost
}

// Stats returns the sums, including a handoff in progress.
func (t *Tracker) Stats() Stats {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	stats := t.stats
	if t.now != nil {
		stats.add(t.now.Progress())
	}
	if !t.since.IsZero() {
		stats.Duration, stats.Progress = time.Since(t.since), ratio(t.now.Progress())
	}
	return stats
}

// ratio returns which part is copied, from 0 to 1. During a copy it may be too low, because the memory of the old
// servers includes more than keys and values.
func ratio(p handoff.Progress) float64 {
	switch {
	case p.Copied, p.Followed:
		return 1
	case p.TotalBytes <= 0:
		return 0
	}
	return min(1, float64(p.Bytes)/float64(p.TotalBytes))
}

func (s *Stats) add(p handoff.Progress) {
	s.Keys += p.Keys
	s.Bytes += p.Bytes
	s.Skipped += p.Skipped
	s.Invalidations += p.Invalidated
}

func (t *Tracker) begin(h *handoff.Handoff, copies bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.now = h
	if copies {
		t.since, t.lost = time.Now(), ""
	}
}

// whyLost returns why a handoff is resumed: the reason for which the last handoff lost its keys. If there is none, it
// returns AgentRestarted, because an earlier run of the agent had begun the handoff.
func (t *Tracker) whyLost() string { return cmp.Or(t.Lost(), handoff.AgentRestarted) }

func (t *Tracker) endOfCopy() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.since.IsZero() {
		t.stats.Duration, t.stats.Progress = time.Since(t.since), ratio(t.now.Progress())
		t.since, t.ended = time.Time{}, time.Now()
	}
}

func (t *Tracker) end(ctx context.Context, h *handoff.Handoff, err error) {
	t.endOfCopy()
	logProgress(h.Log, h.Progress())
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.stats.add(h.Progress())
	t.now, t.lost = nil, cmp.Or(t.lost, h.Progress().Emptied)
	if err != nil && ctx.Err() == nil {
		t.stats.Failures++
	}
}

// runLogged runs a handoff, and logs its progress until all keys are copied.
func runLogged(ctx context.Context, h *handoff.Handoff) error {
	logging, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { logUntilCopied(logging, h) })
	defer group.Wait()
	defer stop()
	return h.Run(ctx)
}

func logUntilCopied(ctx context.Context, h *handoff.Handoff) {
	for {
		pause := interval
		if h.Progress().Followed {
			pause = followInterval
		}
		if handoff.Wait(ctx, pause) != nil || h.Progress().Copied {
			return
		}
		logProgress(h.Log, h.Progress())
	}
}

// logProgress logs the progress of a handoff.
func logProgress(log *slog.Logger, p handoff.Progress) {
	log.Info("handoff", "keys", p.Keys, "bytes", p.Bytes, "totalKeys", p.TotalKeys, "totalBytes", p.TotalBytes,
		"skipped", p.Skipped, "copied", p.Copied, "invalidated", p.Invalidated, "emptied", p.Emptied)
}
