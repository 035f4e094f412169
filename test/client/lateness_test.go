package main

import (
	"testing"
	"time"
)

func TestLatenessIsThatOfTheLastTwoPeriods(t *testing.T) {
	start := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	l := &lateness{since: start}
	for _, step := range []struct {
		happens int           // milliseconds since the start
		allowed time.Duration // what allowed returns 3 ms later
	}{
		{0, 0},
		{7, 8 * time.Millisecond},
		{42, 120 * time.Millisecond},
		{47, 120 * time.Millisecond},
		{1050, 3992 * time.Millisecond},
		{2055, 4000 * time.Millisecond},
		{2060, 4000 * time.Millisecond},
	} {
		l.note(at(step.happens))
		if got := l.allowed(at(step.happens + 3)); got != step.allowed {
			t.Errorf("at %d ms %s are allowed, want %s", step.happens, got, step.allowed)
		}
	}
	for ms := 2065; ms < 5000; ms += 5 {
		l.note(at(ms))
	}
	if got := l.allowed(at(4998)); got != 0 {
		t.Errorf("%s are allowed, want none", got)
	}
	if got := l.allowed(at(5010)); got != 40*time.Millisecond {
		t.Errorf("while something is late, %s are allowed, want 40 ms", got)
	}
}
