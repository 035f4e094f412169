package main

import (
	"context"
	"sync"
	"time"
)

// lateness measures how late this machine wakes a program. The bound for outdated values is increased by this delay, so
// that it holds even if dozens of tests share two processors. lateness does not measure the delays that the agents
// cause themselves.
type lateness struct {
	mu                sync.Mutex
	current, previous time.Duration // the longest delay of this period, and of the one before
	since             time.Time
	due               time.Time // when the next tick is due
}

const (
	latenessTick   = 5 * time.Millisecond
	latenessPeriod = time.Second

	// latenessHops is the number of programs that a change passes, each of which the machine may delay: the memcached that
	// reports the change, the agent, the other memcached, and the client.
	latenessHops = 4
)

// measure measures the delays of the machine until the context ends.
func (l *lateness) measure(ctx context.Context) error {
	for ctx.Err() == nil {
		l.note(time.Now())
		time.Sleep(latenessTick)
	}
	return nil
}

// note records that the tick that was due happens now.
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
