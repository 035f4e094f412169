package main

import (
	"context"
	"sync"
	"time"
)

// lateness measures how late this machine does what is due, so that a bound of milliseconds holds if dozens of tests
// share two processors. What the agents do late by themselves, it does not measure.
type lateness struct {
	mu                sync.Mutex
	current, previous time.Duration // the latest of this period, and of the one before
	since             time.Time
	due               time.Time // when something is due next
}

const (
	latenessTick   = 5 * time.Millisecond
	latenessPeriod = time.Second

	// latenessHops are the programs that a change passes, each of which may be late: the memcached that reports it, the
	// agent, the other memcached, and the client.
	latenessHops = 4
)

// measure measures until the context ends.
func (l *lateness) measure(ctx context.Context) error {
	for ctx.Err() == nil {
		l.note(time.Now())
		time.Sleep(latenessTick)
	}
	return nil
}

// note notes that what was due happens now.
func (l *lateness) note(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) >= latenessPeriod {
		l.current, l.previous, l.since = 0, l.current, now
	}
	if !l.due.IsZero() {
		l.current = max(l.current, now.Sub(l.due))
	}
	l.due = now.Add(latenessTick)
}

// allowed returns how much longer than usual a change may take now.
func (l *lateness) allowed(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return latenessHops * max(l.current, l.previous, now.Sub(l.due))
}
